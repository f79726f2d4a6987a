#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

const int PLANES = 4;
const int HEIGHT = 40;
const int WIDTH = 75;
const int PAD_Y = 4;
const int PAD_X = 3;
const int OUT_H = HEIGHT + 2 * PAD_Y;
const int OUT_W = WIDTH + 2 * PAD_X;

inline void cuda_check(cudaError_t err, const char* where) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(err));
        exit(1);
    }
}

static bool readFile(const char* path, std::vector<float>& v) {
    FILE* file = fopen(path, "rb");
    if (!file) return false;
    size_t got = fread(v.data(), sizeof(float), v.size(), file);
    fclose(file);
    return got == v.size();
}

static bool writeFile(const char* path, const std::vector<float>& v) {
    FILE* file = fopen(path, "wb");
    if (!file) return false;
    size_t put = fwrite(v.data(), sizeof(float), v.size(), file);
    fclose(file);
    return put == v.size();
}

__global__ void pad(const float* panorama, float* padded) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PLANES * OUT_H * OUT_W) return;
    int x = i % OUT_W - PAD_X;
    int y = i / OUT_W % OUT_H - PAD_Y;
    int p = i / (OUT_W * OUT_H);
    x = (x + WIDTH) % WIDTH;
    if (y < 0) y = -y;
    if (y >= HEIGHT) y = 2 * (HEIGHT - 1) - y;
    padded[i] = panorama[(p * HEIGHT + y) * WIDTH + x];
}

int main() {
    const size_t panorama_len = size_t(PLANES) * HEIGHT * WIDTH;
    const size_t padded_len = size_t(PLANES) * (HEIGHT + 8) * (WIDTH + 6);
    std::vector<float> panorama(panorama_len);
    std::vector<float> padded(padded_len);
    if (!readFile("data/panorama.bin", panorama)) {
        fprintf(stderr, "cannot read data/panorama.bin\n");
        return 1;
    }

    float* d_panorama = nullptr;
    cuda_check(cudaMalloc(&d_panorama, panorama_len * sizeof(float)), "malloc d_panorama");
    cuda_check(cudaMemcpy(d_panorama, panorama.data(), panorama_len * sizeof(float), cudaMemcpyHostToDevice),
            "copy d_panorama");
    float* d_padded = nullptr;
    cuda_check(cudaMalloc(&d_padded, padded_len * sizeof(float)), "malloc d_padded");

    pad<<<(PLANES * OUT_H * OUT_W + 255) / 256, 256>>>(d_panorama, d_padded);
    cuda_check(cudaGetLastError(), "launch");
    cuda_check(cudaDeviceSynchronize(), "kernel");
    cuda_check(cudaMemcpy(padded.data(), d_padded, padded_len * sizeof(float), cudaMemcpyDeviceToHost),
            "copy padded");

    if (!writeFile("data/padded.bin", padded)) return 1;
    cudaFree(d_panorama);
    cudaFree(d_padded);
    return 0;
}
