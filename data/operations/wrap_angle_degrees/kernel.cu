#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

static inline void checkCuda(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool readBinary(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == nullptr) return false;
    const size_t got = fread(data, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

bool writeBinary(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (f == nullptr) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    ok = fclose(f) == 0 && ok;
    return ok;
}

const int N = 15000;

// Quarter degrees as integers: 1440 a revolution, floor division by a shifted and corrected quotient.
__global__ void shortest_turn_int(const float* __restrict__ heading, const float* __restrict__ target,
                                  float* __restrict__ turn, int* __restrict__ turns, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const int q = __float2int_rn((target[i] - heading[i]) * 4.0f) + 720;
        int k = q / 1440;
        if (q < k * 1440) --k;
        turns[i] = k;
        turn[i] = (q - k * 1440 - 720) * 0.25f;
    }
}

int main() {
    std::vector<float> heading(N);
    std::vector<float> target(N);
    std::vector<float> turn(N);
    std::vector<int> turns(N);
    if (!readBinary("data/heading.bin", heading.data(), N * sizeof(float)) ||
        !readBinary("data/target.bin", target.data(), N * sizeof(float))) {
        fprintf(stderr, "cannot read the input files\n");
        return 1;
    }

    float *d_heading = nullptr, *d_target = nullptr, *d_turn = nullptr;
    int* d_turns = nullptr;
    checkCuda(cudaMalloc(&d_heading, N * sizeof(float)), "cudaMalloc heading");
    checkCuda(cudaMalloc(&d_target, N * sizeof(float)), "cudaMalloc target");
    checkCuda(cudaMalloc(&d_turn, N * sizeof(float)), "cudaMalloc turn");
    checkCuda(cudaMalloc(&d_turns, N * sizeof(int)), "cudaMalloc turns");
    checkCuda(cudaMemcpy(d_heading, heading.data(), N * sizeof(float), cudaMemcpyHostToDevice), "memcpy heading");
    checkCuda(cudaMemcpy(d_target, target.data(), N * sizeof(float), cudaMemcpyHostToDevice), "upload target");

    int grid = min((N + 256 - 1) / 256, 2048);
    shortest_turn_int<<<grid, 256>>>(d_heading, d_target, d_turn, d_turns, N);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaMemcpy(turn.data(), d_turn, N * sizeof(float), cudaMemcpyDeviceToHost), "result");
    checkCuda(cudaMemcpy(turns.data(), d_turns, N * sizeof(int), cudaMemcpyDeviceToHost), "result");

    if (!writeBinary("data/turn.bin", turn.data(), N * sizeof(float))) {
        fprintf(stderr, "cannot write data/turn.bin\n");
        return 1;
    }
    if (!writeBinary("data/turns.bin", turns.data(), N * sizeof(int))) {
        fprintf(stderr, "cannot write data/turns.bin\n");
        return 1;
    }
    cudaFree(d_heading);
    cudaFree(d_target);
    cudaFree(d_turn);
    cudaFree(d_turns);
    return 0;
}
