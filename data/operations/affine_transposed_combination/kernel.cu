#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int N = 100;
constexpr int TILE = 32;

inline void checkCuda(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool load_vector(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t n = fread(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return n == v.size();
}

bool save_vector(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t n = fwrite(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return n == v.size();
}

// b is read along its rows into a padded tile and used transposed, so every global access is coalesced.
__global__ void combine_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
    __shared__ float tile[TILE][TILE + 1];
    const int row0 = blockIdx.y * TILE;
    const int col0 = blockIdx.x * TILE;
    for (int r = threadIdx.y; r < TILE; r += 8) {
        int br = col0 + r, bc = row0 + threadIdx.x;
        if (br < N && bc < N) tile[r][threadIdx.x] = b[br * N + bc];
    }
    __syncthreads();
    for (int r = threadIdx.y; r < TILE; r += 8) {
        int i = row0 + r, j = col0 + threadIdx.x;
        if (i < N && j < N) {
            float v = fmaf(1.5f, a[i * N + j], -0.75f * tile[threadIdx.x][r]);
            c[i * N + j] = i == j ? v + 2.0f : v;
        }
    }
}

int main() {
    const size_t a_size = (size_t)N * N;
    std::vector<float> h_a(a_size);
    std::vector<float> h_b(a_size);
    std::vector<float> h_c(a_size);
    if (!load_vector("data/a.bin", h_a) || !load_vector("data/b.bin", h_b)) {
        fprintf(stderr, "input missing\n");
        return 1;
    }

    float *d_a = nullptr, *d_b = nullptr, *d_c = nullptr;
    checkCuda(cudaMalloc(&d_a, a_size * sizeof(float)), "cudaMalloc a");
    checkCuda(cudaMalloc(&d_b, a_size * sizeof(float)), "cudaMalloc b");
    checkCuda(cudaMalloc(&d_c, a_size * sizeof(float)), "cudaMalloc c");
    checkCuda(cudaMemcpy(d_a, h_a.data(), a_size * sizeof(float), cudaMemcpyHostToDevice), "copy a");
    checkCuda(cudaMemcpy(d_b, h_b.data(), a_size * sizeof(float), cudaMemcpyHostToDevice), "copy b");

    const int tiles = (N + TILE - 1) / TILE;
    combine_tiled<<<dim3(tiles, tiles), dim3(TILE, 8)>>>(d_a, d_b, d_c);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaMemcpy(h_c.data(), d_c, a_size * sizeof(float), cudaMemcpyDeviceToHost), "copy c");

    if (!save_vector("data/c.bin", h_c)) return 1;
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
    return 0;
}
