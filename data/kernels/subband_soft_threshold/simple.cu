#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void shrink(const float* w, const float* thresholds, float* out, int* kept, int rows, int n, int levels) {
    long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (e >= (long long)rows * n) return;
    int row = e / n, c = e % n, level = 1;
    while (level <= levels && c < n >> level) ++level;
    float value = w[e];
    if (level <= levels) {
        float t = thresholds[8 * row + level - 1];
        if (value > t) value -= t;
        else if (value < -t) value += t;
        else value = 0;
        if (fabsf(w[e]) > t) atomicAdd(&kept[8 * row + level - 1], 1);
    }
    out[e] = value;
}

#define CHECK(call)                                             \
    do {                                                        \
        cudaError_t e = (call);                                 \
        if (e != cudaSuccess) {                                 \
            fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e)); \
            exit(1);                                            \
        }                                                       \
    } while (0)

void readAll(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes || fgetc(f) != EOF) {
        fprintf(stderr, "%s: not %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(f);
}

void writeAll(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    int sizes[3];
    readAll("data/sizes.bin", sizes, sizeof(sizes));
    int rows = sizes[0], base = sizes[1], levels = sizes[2];
    if (rows < 1 || rows > 65535 || base < 1 || base > 1024 || levels < 1 || levels > 8) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    int n = base * 256;
    std::vector<float> w((size_t)rows * n), thresholds((size_t)rows * 8);
    std::vector<int> kept(thresholds.size());
    readAll("data/w.bin", w.data(), w.size() * 4);
    readAll("data/thresholds.bin", thresholds.data(), thresholds.size() * 4);
    float *dw, *dt, *dout;
    int* dkept;
    CHECK(cudaMalloc(&dw, w.size() * 4));
    CHECK(cudaMalloc(&dout, w.size() * 4));
    CHECK(cudaMalloc(&dt, thresholds.size() * 4));
    CHECK(cudaMalloc(&dkept, kept.size() * 4));
    CHECK(cudaMemcpy(dw, w.data(), w.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dt, thresholds.data(), thresholds.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(dkept, 0, kept.size() * 4));
    shrink<<<(w.size() + 255) / 256, 256>>>(dw, dt, dout, dkept, rows, n, levels);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(w.data(), dout, w.size() * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(kept.data(), dkept, kept.size() * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dw));
    CHECK(cudaFree(dout));
    CHECK(cudaFree(dt));
    CHECK(cudaFree(dkept));
    writeAll("data/shrunk.bin", w.data(), w.size() * 4);
    writeAll("data/kept.bin", kept.data(), kept.size() * 4);
    return 0;
}
