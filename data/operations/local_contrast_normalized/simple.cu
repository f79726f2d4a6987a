#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int BATCH = 3;
static const int HEIGHT = 50;
static const int WIDTH = 70;

__global__ void normalize(const float* images, float* out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    const float* image = images + (size_t)blockIdx.z * HEIGHT * WIDTH;
    int y0 = max(y - 3, 0), y1 = min(y + 3, HEIGHT - 1);
    int x0 = max(x - 3, 0), x1 = min(x + 3, WIDTH - 1);
    int count = (y1 - y0 + 1) * (x1 - x0 + 1);
    float mean = 0.0f, var = 0.0f;
    for (int yy = y0; yy <= y1; ++yy)
        for (int xx = x0; xx <= x1; ++xx) mean += image[yy * WIDTH + xx];
    mean /= count;
    for (int yy = y0; yy <= y1; ++yy)
        for (int xx = x0; xx <= x1; ++xx) {
            float d = image[yy * WIDTH + xx] - mean;
            var += d * d;
        }
    float deviation = sqrtf(var / count);
    out[((size_t)blockIdx.z * HEIGHT + y) * WIDTH + x] = (image[y * WIDTH + x] - mean) / fmaxf(deviation, 0.05f);
}

void launch(const float* d_images, float* d_normalized) {
    dim3 block(16, 16);
    dim3 grid((WIDTH + 15) / 16, (HEIGHT + 15) / 16, BATCH);
    normalize<<<grid, block>>>(d_images, d_normalized);
}

int main() {
    const int total = BATCH * HEIGHT * WIDTH;
    std::vector<float> h_images(total);
    std::vector<float> h_normalized(total);
    FILE* f = fopen("data/images.bin", "rb");
    if (!f || fread(h_images.data(), sizeof(float), h_images.size(), f) != h_images.size()) {
        fprintf(stderr, "error reading images\n");
        return EXIT_FAILURE;
    }
    fclose(f);

    float* d_images;
    float* d_normalized;
    cudaMalloc(&d_images, total * sizeof(float));
    cudaMalloc(&d_normalized, total * sizeof(float));
    cudaMemcpy(d_images, h_images.data(), total * sizeof(float), cudaMemcpyHostToDevice);

    launch(d_images, d_normalized);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    cudaMemcpy(h_normalized.data(), d_normalized, total * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/normalized.bin", "wb");
    if (!f || fwrite(h_normalized.data(), sizeof(float), h_normalized.size(),
            f) != h_normalized.size()) return EXIT_FAILURE;
    fclose(f);
    cudaFree(d_images);
    cudaFree(d_normalized);
    return 0;
}
