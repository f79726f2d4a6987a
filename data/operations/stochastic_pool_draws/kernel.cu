#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define PLANES 4
#define HEIGHT 70
#define WIDTH 96

// One block of 2 x 2 is read as two float2; the number of cumulative sums not above the target is the choice.
__global__ void stochastic_pool2(const float2* __restrict__ x, const float* __restrict__ u, float* __restrict__ y,
                                 int* __restrict__ pick) {
    constexpr int ow = WIDTH / 2, oh = HEIGHT / 2;
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    const int line = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= ow || line >= PLANES * oh) return;
    const float2 top = x[(size_t)(2 * line) * ow + c];
    const float2 low = x[(size_t)(2 * line + 1) * ow + c];
    const float s1 = top.x + top.y, s2 = s1 + low.x, s3 = s2 + low.y;
    const size_t i = (size_t)line * ow + c;
    const float target = u[i] * s3;
    int k = 0;
    if (s3 > 0.0f) k = (top.x <= target) + (s1 <= target) + (s2 <= target);
    pick[i] = k;
    y[i] = k == 0 ? top.x : k == 1 ? top.y : k == 2 ? low.x : low.y;
}

static inline void check(cudaError_t code, const char* what) {
    if (code != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
        exit(1);
    }
}

static bool readRaw(const char* path, void* dst, size_t bytes) {
    FILE* fp = fopen(path, "rb");
    if (!fp) return false;
    bool ok = fread(dst, 1, bytes, fp) == bytes;
    fclose(fp);
    return ok;
}

static bool writeRaw(const char* path, const void* src, size_t bytes) {
    FILE* fp = fopen(path, "wb");
    if (!fp) return false;
    bool ok = fwrite(src, 1, bytes, fp) == bytes;
    fclose(fp);
    return ok;
}

int main() {
    const size_t x_size = (size_t)PLANES * HEIGHT * WIDTH;
    const size_t u_size = PLANES * (HEIGHT / 2) * (WIDTH / 2);
    std::vector<float> h_x(x_size);
    std::vector<float> h_u(u_size);
    std::vector<float> h_y(u_size);
    std::vector<int> h_pick(u_size);
    if (!readRaw("data/x.bin", h_x.data(), x_size * sizeof(float))) {
        fprintf(stderr, "cannot read x\n");
        return 1;
    }
    if (!readRaw("data/u.bin", h_u.data(), u_size * sizeof(float))) {
        fprintf(stderr, "cannot read u\n");
        return 1;
    }

    float* d_x = nullptr;
    float* d_u = nullptr;
    float* d_y = nullptr;
    int* d_pick = nullptr;
    check(cudaMalloc(&d_x, x_size * sizeof(float)), "cudaMalloc x");
    check(cudaMalloc(&d_u, u_size * sizeof(float)), "malloc u");
    check(cudaMalloc(&d_y, u_size * sizeof(float)), "cudaMalloc y");
    check(cudaMalloc(&d_pick, u_size * sizeof(int)), "alloc pick");
    check(cudaMemcpy(d_x, h_x.data(), x_size * sizeof(float), cudaMemcpyHostToDevice), "copy x");
    check(cudaMemcpy(d_u, h_u.data(), u_size * sizeof(float), cudaMemcpyHostToDevice), "copy u");

    dim3 block(32, 8);
    dim3 grid(((WIDTH / 2) + 32 - 1) / 32, ((PLANES * (HEIGHT / 2)) + 8 - 1) / 8);
    stochastic_pool2<<<grid, block>>>((const float2*)d_x, d_u, d_y, d_pick);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(h_y.data(), d_y, u_size * sizeof(float), cudaMemcpyDeviceToHost), "copy y");
    check(cudaMemcpy(h_pick.data(), d_pick, u_size * sizeof(int), cudaMemcpyDeviceToHost), "copy pick");

    if (!writeRaw("data/y.bin", h_y.data(), u_size * sizeof(float))) {
        fprintf(stderr, "cannot write y\n");
        return 1;
    }
    if (!writeRaw("data/pick.bin", h_pick.data(), u_size * sizeof(int))) {
        fprintf(stderr, "cannot write pick\n");
        return 1;
    }
    cudaFree(d_x);
    cudaFree(d_u);
    cudaFree(d_y);
    cudaFree(d_pick);
    return 0;
}
