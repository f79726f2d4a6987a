#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kRows = 70;
constexpr int kCols = 300;

inline void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

static bool loadBytes(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool saveBytes(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

__global__ void steps_since(const unsigned char* event, int* age) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= kRows) return;
    int since = -1;
    for (int c = 0; c < kCols; ++c) {
        size_t i = (size_t)r * kCols + c;
        if (event[i] != 0) since = 0;
        else if (since >= 0) ++since;
        age[i] = since;
    }
}

int main() {
    const size_t numel = (size_t)kRows * kCols;
    std::vector<unsigned char> h_event(numel);
    std::vector<int> h_age(numel);
    if (!loadBytes("data/event.bin", h_event.data(), numel * sizeof(unsigned char))) {
        fprintf(stderr, "cannot read data/event.bin\n");
        return 1;
    }

    unsigned char* event_d;
    int* age_d;
    check(cudaMalloc(&event_d, numel * sizeof(unsigned char)), "allocate event_d");
    check(cudaMalloc(&age_d, numel * sizeof(int)), "allocate age_d");
    check(cudaMemcpy(event_d, h_event.data(), numel * sizeof(unsigned char), cudaMemcpyHostToDevice),
        "copy event_d");

    int threads = 32;
    steps_since<<<(kRows + threads - 1) / threads, threads>>>(event_d, age_d);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(h_age.data(), age_d, numel * sizeof(int), cudaMemcpyDeviceToHost), "copy h_age");

    if (!saveBytes("data/age.bin", h_age.data(), numel * sizeof(int))) {
        fprintf(stderr, "cannot write data/age.bin\n");
        return 1;
    }
    cudaFree(event_d);
    cudaFree(age_d);
    return 0;
}
