#include <cfloat>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int PLANES = 4;
static const int HEIGHT = 50;
static const int WIDTH = 70;

__global__ void from_bottom(const float* vertical, float* corner) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= PLANES * WIDTH) return;
    size_t base = (size_t)(k / WIDTH) * HEIGHT * WIDTH + k % WIDTH;
    float best = -FLT_MAX;
    for (int i = HEIGHT - 1; i >= 0; --i) {
        best = fmaxf(best, vertical[base + (size_t)i * WIDTH]);
        corner[base + (size_t)i * WIDTH] = best;
    }
}

__global__ void from_right(const float* horizontal, float* corner) {
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= PLANES * HEIGHT) return;
    size_t base = (size_t)line * WIDTH;
    float best = -FLT_MAX;
    for (int j = WIDTH - 1; j >= 0; --j) {
        best = fmaxf(best, horizontal[base + j]);
        corner[base + j] += best;
    }
}

static inline void check(cudaError_t code, const char* what) {
    if (code != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
        exit(1);
    }
}

static bool read_all(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(dst, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool write_all(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(src, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

int main() {
    const size_t elements = (size_t)PLANES * HEIGHT * WIDTH;
    std::vector<float> h_vertical(elements);
    std::vector<float> h_horizontal(elements);
    std::vector<float> h_corner(elements);
    if (!read_all("data/vertical.bin", h_vertical.data(), elements * sizeof(float))) {
        fprintf(stderr, "cannot read vertical\n");
        return 1;
    }
    if (!read_all("data/horizontal.bin", h_horizontal.data(), elements * sizeof(float))) {
        fprintf(stderr, "cannot read horizontal\n");
        return 1;
    }

    float *d_vertical = nullptr, *d_horizontal = nullptr, *d_corner = nullptr;
    check(cudaMalloc(&d_vertical, elements * sizeof(float)), "alloc vertical");
    check(cudaMalloc(&d_horizontal, elements * sizeof(float)), "malloc horizontal");
    check(cudaMalloc(&d_corner, elements * sizeof(float)), "malloc corner");
    check(cudaMemcpy(d_vertical, h_vertical.data(), elements * sizeof(float), cudaMemcpyHostToDevice),
        "copy vertical");
    check(cudaMemcpy(d_horizontal, h_horizontal.data(), elements * sizeof(float), cudaMemcpyHostToDevice),
        "copy horizontal");

    from_bottom<<<(PLANES * WIDTH + 128 - 1) / 128, 128>>>(d_vertical, d_corner);
    from_right<<<(PLANES * HEIGHT + 128 - 1) / 128, 128>>>(d_horizontal, d_corner);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(h_corner.data(), d_corner, elements * sizeof(float), cudaMemcpyDeviceToHost), "copy corner");

    if (!write_all("data/corner.bin", h_corner.data(), elements * sizeof(float))) {
        fprintf(stderr, "cannot write corner\n");
        return 1;
    }
    cudaFree(d_vertical);
    cudaFree(d_horizontal);
    cudaFree(d_corner);
    return 0;
}
