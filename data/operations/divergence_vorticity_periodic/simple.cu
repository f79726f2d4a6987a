#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static inline void must(cudaError_t e, const char* step) {
    if (e != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", step, cudaGetErrorString(e));
        exit(1);
    }
}

static bool load_file(const char* path, void* p, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == nullptr) {
        return false;
    }
    size_t got = fread(p, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

static bool save_file(const char* path, const void* p, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(p, 1, bytes, f);
    return fclose(f) == 0 && put == bytes;
}

constexpr int HEIGHT = 96;
constexpr int WIDTH = 130;

__global__ void div_curl(const float* u, const float* v, float* div, float* curl) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    int l = y * WIDTH + (x + WIDTH - 1) % WIDTH;
    int r = y * WIDTH + (x + 1) % WIDTH;
    int t = (y + HEIGHT - 1) % HEIGHT * WIDTH + x;
    int b = (y + 1) % HEIGHT * WIDTH + x;
    div[y * WIDTH + x] = 0.5f * (u[r] - u[l] + v[b] - v[t]);
    curl[y * WIDTH + x] = 0.5f * (v[r] - v[l] - u[b] + u[t]);
}

int main() {
    const size_t size = HEIGHT * WIDTH;
    std::vector<float> host_u(size);
    std::vector<float> host_v(size);
    std::vector<float> host_divergence(size);
    std::vector<float> host_vorticity(size);
    if (!load_file("data/u.bin", host_u.data(), size * sizeof(float))) {
        fprintf(stderr, "cannot read u\n");
        return 1;
    }
    if (!load_file("data/v.bin", host_v.data(), size * sizeof(float))) {
        fprintf(stderr, "cannot read v\n");
        return 1;
    }

    float* u_gpu = nullptr;
    must(cudaMalloc(&u_gpu, size * sizeof(float)), "malloc u");
    float* v_gpu = nullptr;
    must(cudaMalloc(&v_gpu, size * sizeof(float)), "malloc v");
    float* divergence_gpu = nullptr;
    must(cudaMalloc(&divergence_gpu, size * sizeof(float)), "malloc divergence");
    float* vorticity_gpu = nullptr;
    must(cudaMalloc(&vorticity_gpu, size * sizeof(float)), "malloc vorticity");
    must(cudaMemcpy(u_gpu, host_u.data(), size * sizeof(float), cudaMemcpyHostToDevice), "copy u");
    must(cudaMemcpy(v_gpu, host_v.data(), size * sizeof(float), cudaMemcpyHostToDevice), "copy v");

    dim3 block(16, 16);
    dim3 grid((WIDTH + 15) / 16, (HEIGHT + 15) / 16);
    div_curl<<<grid, block>>>(u_gpu, v_gpu, divergence_gpu, vorticity_gpu);
    must(cudaGetLastError(), "launch");

    must(cudaMemcpy(host_divergence.data(), divergence_gpu, size * sizeof(float), cudaMemcpyDeviceToHost),
            "copy divergence");
    must(cudaMemcpy(host_vorticity.data(), vorticity_gpu, size * sizeof(float), cudaMemcpyDeviceToHost),
            "copy vorticity");
    if (!save_file("data/divergence.bin", host_divergence.data(), size * sizeof(float))) return 1;
    if (!save_file("data/vorticity.bin", host_vorticity.data(), size * sizeof(float))) return 1;
    cudaFree(u_gpu);
    cudaFree(v_gpu);
    cudaFree(divergence_gpu);
    cudaFree(vorticity_gpu);
    return 0;
}
