#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define CHECK_CUDA(expr)                                                \
    do {                                                          \
        cudaError_t status = expr;                                   \
        if (status != cudaSuccess) {                                  \
            fprintf(stderr, "CUDA: %s (line %d)\n",              \
                    cudaGetErrorString(status), __LINE__);           \
            exit(EXIT_FAILURE);                                  \
        }                                                         \
    } while (0)

#define HEIGHT 64
#define WIDTH 100

constexpr int TW = 32;
constexpr int TH = 8;

// Outside of the image both the value and the weight are 0.
__global__ void demosaic_tile(const float* __restrict__ raw, float* __restrict__ rgb) {
    __shared__ float v[TH + 2][TW + 2];
    __shared__ float m[TH + 2][TW + 2];
    for (int ty = threadIdx.y; ty < TH + 2; ty += TH) {
        for (int tx = threadIdx.x; tx < TW + 2; tx += TW) {
            int gy = (int)(blockIdx.y * TH) + ty - 1, gx = (int)(blockIdx.x * TW) + tx - 1;
            bool in = gy >= 0 && gx >= 0 && gy < HEIGHT && gx < WIDTH;
            v[ty][tx] = in ? raw[(size_t)gy * WIDTH + gx] : 0.0f;
            m[ty][tx] = in ? 1.0f : 0.0f;
        }
    }
    __syncthreads();
    const int y = blockIdx.y * TH + threadIdx.y, x = blockIdx.x * TW + threadIdx.x;
    if (y >= HEIGHT || x >= WIDTH) return;
    const int j = threadIdx.y + 1, i = threadIdx.x + 1;
    const float across = v[j][i - 1] + v[j][i + 1], across_n = m[j][i - 1] + m[j][i + 1];
    const float down = v[j - 1][i] + v[j + 1][i], down_n = m[j - 1][i] + m[j + 1][i];
    float red, green, blue;
    if ((y & 1) != (x & 1)) {
        green = v[j][i];
        red = y & 1 ? down / down_n : across / across_n;
        blue = y & 1 ? across / across_n : down / down_n;
    } else {
        float corners = v[j - 1][i - 1] + v[j - 1][i + 1] + v[j + 1][i - 1] + v[j + 1][i + 1];
        corners /= m[j - 1][i - 1] + m[j - 1][i + 1] + m[j + 1][i - 1] + m[j + 1][i + 1];
        green = (across + down) / (across_n + down_n);
        red = y & 1 ? corners : v[j][i];
        blue = y & 1 ? v[j][i] : corners;
    }
    const size_t plane = (size_t)HEIGHT * WIDTH, k = (size_t)y * WIDTH + x;
    rgb[k] = red;
    rgb[plane + k] = green;
    rgb[2 * plane + k] = blue;
}

int main(void) {
    const size_t raw_count = (size_t)HEIGHT * WIDTH;
    const size_t rgb_count = (size_t)3 * HEIGHT * WIDTH;
    float* h_raw = (float*)malloc(raw_count * sizeof(float));
    float* h_rgb = (float*)malloc(rgb_count * sizeof(float));

    FILE* fp = fopen("data/raw.bin", "rb");
    if (!fp || fread(h_raw, sizeof(float), raw_count, fp) != (size_t)raw_count) {
        fprintf(stderr, "could not read data/raw.bin\n");
        return 1;
    }
    fclose(fp);

    float* d_raw;
    float* d_rgb;
    CHECK_CUDA(cudaMalloc(&d_raw, raw_count * sizeof(float)));
    CHECK_CUDA(cudaMalloc((void**)&d_rgb, rgb_count * sizeof(float)));
    CHECK_CUDA(cudaMemcpy(d_raw, h_raw, raw_count * sizeof(float), cudaMemcpyHostToDevice));

    dim3 block(TW, TH);
    dim3 grid((WIDTH + TW - 1) / TW, (HEIGHT + TH - 1) / TH);
    demosaic_tile<<<grid, block>>>(d_raw, d_rgb);
    CHECK_CUDA(cudaGetLastError());

    CHECK_CUDA(cudaMemcpy(h_rgb, d_rgb, rgb_count * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* fo = fopen("data/rgb.bin", "wb");
    if (!fo || fwrite(h_rgb, sizeof(float), rgb_count, fo) != (size_t)rgb_count) {
        fprintf(stderr, "could not write data/rgb.bin\n");
        return 1;
    }
    fclose(fo);

    free(h_raw);
    free(h_rgb);
    cudaFree(d_raw);
    cudaFree(d_rgb);
    return 0;
}
