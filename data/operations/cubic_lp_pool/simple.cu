#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int PLANES = 4;
constexpr int HEIGHT = 90;
constexpr int WIDTH = 120;

#define OUT_H ((HEIGHT - 3) / 2 + 1)
#define OUT_W ((WIDTH - 3) / 2 + 1)

__global__ void lp_pool(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PLANES * OUT_H * OUT_W) return;
    int col = i % OUT_W;
    int row = i / OUT_W % OUT_H;
    int plane = i / (OUT_W * OUT_H);
    const float* window = x + ((size_t)plane * HEIGHT + 2 * row) * WIDTH + 2 * col;
    float sum = 0.0f;
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
            float v = fabsf(window[a * WIDTH + b]);
            sum += v * v * v;
        }
    y[i] = cbrtf(sum);
}

void launch(const float* d_x, float* d_y) {
    lp_pool<<<(PLANES * OUT_H * OUT_W + 256 - 1) / 256, 256>>>(d_x, d_y);
}

int main() {
    const size_t num_x = PLANES * HEIGHT * WIDTH;
    const size_t num_y = PLANES * ((HEIGHT - 3) / 2 + 1) * ((WIDTH - 3) / 2 + 1);
    std::vector<float> h_x(num_x);
    std::vector<float> h_y(num_y);
    FILE* in_x = fopen("data/x.bin", "rb");
    if (!in_x || fread(h_x.data(), sizeof(float), num_x, in_x) != num_x) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return EXIT_FAILURE;
    }
    fclose(in_x);

    float* d_x;
    float* d_y;
    cudaMalloc(&d_x, num_x * sizeof(float));
    cudaMalloc(&d_y, num_y * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), num_x * sizeof(float), cudaMemcpyHostToDevice);

    launch(d_x, d_y);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(err));
        return 1;
    }

    cudaMemcpy(h_y.data(), d_y, num_y * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* out_y = fopen("data/y.bin", "wb");
    if (!out_y || fwrite(h_y.data(), sizeof(float), num_y, out_y) != num_y) return EXIT_FAILURE;
    fclose(out_y);
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
