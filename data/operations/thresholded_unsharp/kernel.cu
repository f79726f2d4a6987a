#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

inline void checkCuda(cudaError_t e, const char* msg) {
    if (e != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(e));
        exit(1);
    }
}

static bool readAll(const char* path, void* p, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(p, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

static bool writeAll(const char* path, const void* p, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(p, 1, bytes, f);
    return fclose(f) == 0 && put == bytes;
}

constexpr int HEIGHT = 90;
constexpr int WIDTH = 160;

__device__ int mirrored(int i, int n) {
    return i < 0 ? -i - 1 : (i < n ? i : 2 * n - i - 1);
}

// The box mean in two passes: sums of five along the rows, then five of these along the columns.
__global__ void sum_rows(const float* __restrict__ photo, float* __restrict__ row_sums) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= WIDTH) return;
    const float* row = photo + (size_t)blockIdx.y * WIDTH;
    float s = 0.0f;
    for (int d = -2; d <= 2; ++d) s += row[mirrored(x + d, WIDTH)];
    row_sums[(size_t)blockIdx.y * WIDTH + x] = s;
}

__global__ void sharpen(const float* __restrict__ photo, const float* __restrict__ row_sums,
        float* __restrict__ sharp) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= WIDTH) return;
    float s = 0.0f;
    for (int d = -2; d <= 2; ++d) s += row_sums[(size_t)mirrored(y + d, HEIGHT) * WIDTH + x];
    const float v = photo[(size_t)y * WIDTH + x];
    const float detail = v - s * 0.04f;
    const float kept = copysignf(fmaxf(fabsf(detail) - 4.0f, 0.0f), detail);
    sharp[(size_t)y * WIDTH + x] = fminf(fmaxf(fmaf(1.5f, kept, v), 0.0f), 255.0f);
}

int main() {
    const int size = HEIGHT * WIDTH;
    std::vector<float> h_photo(size);
    std::vector<float> h_sharp(size);
    if (!readAll("data/photo.bin", h_photo.data(), size * sizeof(float))) {
        fprintf(stderr, "cannot read photo\n");
        return 1;
    }

    float* d_photo = nullptr;
    checkCuda(cudaMalloc(&d_photo, size * sizeof(float)), "malloc photo");
    float* d_sharp = nullptr;
    checkCuda(cudaMalloc(&d_sharp, size * sizeof(float)), "malloc sharp");
    float* d_row_sums = nullptr;
    checkCuda(cudaMalloc(&d_row_sums, size * sizeof(float)), "malloc row_sums");
    checkCuda(cudaMemcpy(d_photo, h_photo.data(), size * sizeof(float), cudaMemcpyHostToDevice), "copy photo");

    dim3 grid((WIDTH + 255) / 256, HEIGHT);
    sum_rows<<<grid, 256>>>(d_photo, d_row_sums);
    sharpen<<<grid, 256>>>(d_photo, d_row_sums, d_sharp);
    checkCuda(cudaGetLastError(), "launch");

    checkCuda(cudaMemcpy(h_sharp.data(), d_sharp, size * sizeof(float), cudaMemcpyDeviceToHost), "copy sharp");
    if (!writeAll("data/sharp.bin", h_sharp.data(), size * sizeof(float))) return 1;
    cudaFree(d_photo);
    cudaFree(d_sharp);
    cudaFree(d_row_sums);
    return 0;
}
