#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static void require(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool input(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == nullptr) return false;
    const size_t got = fread(data, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

bool output(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (f == nullptr) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    ok = fclose(f) == 0 && ok;
    return ok;
}

const int ROWS = 60;
const int COLS = 150;

__global__ void mod_relu(const float* z, const float* bias, float* w, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float re = z[2 * i];
        float im = z[2 * i + 1];
        float r = sqrtf(re * re + im * im);
        float scale = 0.0f;
        if (r > 0.0f && r + bias[i % COLS] > 0.0f) scale = (r + bias[i % COLS]) / r;
        w[2 * i] = re * scale;
        w[2 * i + 1] = im * scale;
    }
}

int main() {
    const int n = ROWS * COLS;
    const size_t z_len = ROWS * COLS * 2;
    std::vector<float> h_z(z_len);
    std::vector<float> h_bias(COLS);
    std::vector<float> h_w(z_len);
    if (!input("data/z.bin", h_z.data(), z_len * sizeof(float)) ||
        !input("data/bias.bin", h_bias.data(), COLS * sizeof(float))) {
        fprintf(stderr, "cannot read the input files\n");
        return 1;
    }

    float *d_z, *d_bias, *d_w;
    require(cudaMalloc(&d_z, z_len * sizeof(float)), "cudaMalloc z");
    require(cudaMalloc(&d_bias, COLS * sizeof(float)), "cudaMalloc bias");
    require(cudaMalloc(&d_w, z_len * sizeof(float)), "cudaMalloc w");
    require(cudaMemcpy(d_z, h_z.data(), z_len * sizeof(float), cudaMemcpyHostToDevice), "memcpy z");
    require(cudaMemcpy(d_bias, h_bias.data(), COLS * sizeof(float), cudaMemcpyHostToDevice), "memcpy bias");

    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    mod_relu<<<blocks, threads>>>(d_z, d_bias, d_w, n);
    require(cudaGetLastError(), "kernel launch");
    require(cudaMemcpy(h_w.data(), d_w, z_len * sizeof(float), cudaMemcpyDeviceToHost), "download");
    if (!output("data/w.bin", h_w.data(), z_len * sizeof(float))) {
        fprintf(stderr, "cannot write data/w.bin\n");
        return 1;
    }
    cudaFree(d_z);
    cudaFree(d_bias);
    cudaFree(d_w);
    return 0;
}
