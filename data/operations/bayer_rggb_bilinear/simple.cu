#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define HEIGHT 64
#define WIDTH 100

// red 0, green 1, blue 2
__device__ int measured(int y, int x) {
    return (y & 1) + (x & 1);
}

__global__ void demosaic(const float* raw, float* rgb) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    float sum[3] = {0.0f, 0.0f, 0.0f};
    int count[3] = {0, 0, 0};
    for (int yy = max(y - 1, 0); yy <= min(y + 1, HEIGHT - 1); ++yy)
        for (int xx = max(x - 1, 0); xx <= min(x + 1, WIDTH - 1); ++xx) {
            int c = measured(yy, xx);
            sum[c] += raw[yy * WIDTH + xx];
            count[c]++;
        }
    int own = measured(y, x);
    for (int c = 0; c < 3; ++c) {
        float v = c == own ? raw[y * WIDTH + x] : sum[c] / count[c];
        rgb[(c * HEIGHT + y) * WIDTH + x] = v;
    }
}

int main() {
    const int raw_count = HEIGHT * WIDTH;
    const int rgb_count = 3 * HEIGHT * WIDTH;
    std::vector<float> h_raw(raw_count), h_rgb(rgb_count);
    FILE* f0 = fopen("data/raw.bin", "rb");
    if (!f0 || fread(h_raw.data(), raw_count * sizeof(float), 1, f0) != 1) return 1;
    fclose(f0);
    float *d_raw, *d_rgb;
    cudaMalloc(&d_raw, raw_count * sizeof(float));
    cudaMalloc(&d_rgb, rgb_count * sizeof(float));
    cudaMemcpy(d_raw, h_raw.data(), raw_count * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(16, 16);
    dim3 grid((WIDTH + 15) / 16, (HEIGHT + 15) / 16);
    demosaic<<<grid, block>>>(d_raw, d_rgb);
    cudaMemcpy(h_rgb.data(), d_rgb, rgb_count * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* o0 = fopen("data/rgb.bin", "wb");
    fwrite(h_rgb.data(), rgb_count * sizeof(float), 1, o0);
    fclose(o0);
    return 0;
}
