#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static void check(cudaError_t e, const char* what) {
    if (e != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
        exit(1);
    }
}

static bool slurp(const char* path, void* p, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(p, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

static bool spill(const char* path, const void* p, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(p, 1, bytes, f);
    return fclose(f) == 0 && put == bytes;
}

constexpr int HEIGHT = 90;
constexpr int WIDTH = 120;

__global__ void distort(const float* frame, const float* lens, float* out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    float dx = x - lens[0], dy = y - lens[1];
    float u = dx / WIDTH, v = dy / WIDTH;
    float q = u * u + v * v;
    float s = 1.0f + lens[2] * q + lens[3] * q * q;
    float sx = fminf(fmaxf(lens[0] + dx * s, 0.0f), WIDTH - 1.0f);
    float sy = fminf(fmaxf(lens[1] + dy * s, 0.0f), HEIGHT - 1.0f);
    int x0 = (int)sx, y0 = (int)sy;
    int x1 = min(x0 + 1, WIDTH - 1), y1 = min(y0 + 1, HEIGHT - 1);
    float fx = sx - x0, fy = sy - y0;
    float top = frame[y0 * WIDTH + x0] * (1.0f - fx) + frame[y0 * WIDTH + x1] * fx;
    float bottom = frame[y1 * WIDTH + x0] * (1.0f - fx) + frame[y1 * WIDTH + x1] * fx;
    out[y * WIDTH + x] = top * (1.0f - fy) + bottom * fy;
}

int main() {
    const int elements = HEIGHT * WIDTH;
    std::vector<float> h_frame(elements);
    std::vector<float> h_lens(4);
    std::vector<float> h_warped(elements);
    if (!slurp("data/frame.bin", h_frame.data(), elements * sizeof(float))) {
        fprintf(stderr, "cannot read frame\n");
        return 1;
    }
    if (!slurp("data/lens.bin", h_lens.data(), 4 * sizeof(float))) {
        fprintf(stderr, "cannot read lens\n");
        return 1;
    }

    float* d_frame = nullptr;
    check(cudaMalloc(&d_frame, elements * sizeof(float)), "malloc frame");
    float* d_lens = nullptr;
    check(cudaMalloc(&d_lens, 4 * sizeof(float)), "malloc lens");
    float* d_warped = nullptr;
    check(cudaMalloc(&d_warped, elements * sizeof(float)), "malloc warped");
    check(cudaMemcpy(d_frame, h_frame.data(), elements * sizeof(float), cudaMemcpyHostToDevice), "copy frame");
    check(cudaMemcpy(d_lens, h_lens.data(), 4 * sizeof(float), cudaMemcpyHostToDevice), "copy lens");

    dim3 block(16, 16);
    dim3 grid((WIDTH + 15) / 16, (HEIGHT + 15) / 16);
    distort<<<grid, block>>>(d_frame, d_lens, d_warped);
    check(cudaGetLastError(), "launch");

    check(cudaMemcpy(h_warped.data(), d_warped, elements * sizeof(float), cudaMemcpyDeviceToHost), "copy warped");
    if (!spill("data/warped.bin", h_warped.data(), elements * sizeof(float))) return 1;
    cudaFree(d_frame);
    cudaFree(d_lens);
    cudaFree(d_warped);
    return 0;
}
