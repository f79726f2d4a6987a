#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define HEIGHT 60
#define WIDTH 110
#define TRIM 2

__global__ void trimmed_mean(const float* noisy, float* cleaned) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    float v[9];
    for (int k = 0; k < 9; ++k) {
        int yy = min(max(y + k / 3 - 1, 0), HEIGHT - 1);
        int xx = min(max(x + k % 3 - 1, 0), WIDTH - 1);
        float value = noisy[yy * WIDTH + xx];
        int j = k;
        while (j > 0 && v[j - 1] > value) {
            v[j] = v[j - 1];
            --j;
        }
        v[j] = value;
    }
    float sum = 0.0f;
    for (int k = TRIM; k < 9 - TRIM; ++k) sum += v[k];
    cleaned[y * WIDTH + x] = sum / (9 - 2 * TRIM);
}

int main() {
    const int n = HEIGHT * WIDTH;
    std::vector<float> h_noisy(n), h_cleaned(n);
    std::ifstream in0("data/noisy.bin", std::ios::binary);
    if (!in0.read((char*)h_noisy.data(), n * sizeof(float))) return 1;
    float *d_noisy, *d_cleaned;
    cudaMalloc(&d_noisy, n * sizeof(float));
    cudaMalloc(&d_cleaned, n * sizeof(float));
    cudaMemcpy(d_noisy, h_noisy.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(16, 16);
    dim3 grid((WIDTH + 15) / 16, (HEIGHT + 15) / 16);
    trimmed_mean<<<grid, block>>>(d_noisy, d_cleaned);
    cudaMemcpy(h_cleaned.data(), d_cleaned, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/cleaned.bin", std::ios::binary).write((char*)h_cleaned.data(), n * sizeof(float));
    return 0;
}
