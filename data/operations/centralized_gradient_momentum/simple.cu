#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

const int FILTERS = 60;
const int TAPS = 180;

static bool fill_from_file(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

__global__ void row_means(const float* weight, const float* grad, float* mean) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= FILTERS) return;
    float sum = 0.0f;
    for (int k = 0; k < TAPS; k++) sum += grad[row * TAPS + k] + 0.0005f * weight[row * TAPS + k];
    mean[row] = sum / TAPS;
}

__global__ void momentum_step(const float* weight, const float* grad, const float* buffer, const float* mean,
                              float* weight_out, float* buffer_out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= FILTERS * TAPS) return;
    float g = grad[i] + 0.0005f * weight[i] - mean[i / TAPS];
    float b = 0.9f * buffer[i] + g;
    buffer_out[i] = b;
    weight_out[i] = weight[i] - 0.05f * (g + 0.9f * b);
}

int main() {
    float* weight;
    float* grad;
    float* buffer;
    float* weight_out;
    float* buffer_out;
    float* mean;
    cudaMallocManaged(&weight, FILTERS * TAPS * sizeof(float));
    cudaMallocManaged(&grad, FILTERS * TAPS * sizeof(float));
    cudaMallocManaged(&buffer, FILTERS * TAPS * sizeof(float));
    cudaMallocManaged(&weight_out, FILTERS * TAPS * sizeof(float));
    cudaMallocManaged(&buffer_out, FILTERS * TAPS * sizeof(float));
    cudaMallocManaged(&mean, FILTERS * sizeof(float));

    if (!fill_from_file("data/weight.bin", weight, FILTERS * TAPS * sizeof(float))) {
        fprintf(stderr, "cannot read data/weight.bin\n");
        return 1;
    }
    if (!fill_from_file("data/grad.bin", grad, FILTERS * TAPS * sizeof(float))) {
        fprintf(stderr, "cannot read data/grad.bin\n");
        return 1;
    }
    if (!fill_from_file("data/buffer.bin", buffer, FILTERS * TAPS * sizeof(float))) {
        fprintf(stderr, "cannot read data/buffer.bin\n");
        return 1;
    }

    row_means<<<(FILTERS + 127) / 128, 128>>>(weight, grad, mean);
    momentum_step<<<(FILTERS * TAPS + 255) / 256, 256>>>(weight, grad, buffer, mean, weight_out, buffer_out);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }

    FILE* weight_out_file = fopen("data/weight_out.bin", "wb");
    if (!weight_out_file) return 1;
    fwrite(weight_out, sizeof(float), FILTERS * TAPS, weight_out_file);
    fclose(weight_out_file);
    FILE* buffer_out_file = fopen("data/buffer_out.bin", "wb");
    if (!buffer_out_file) return 1;
    fwrite(buffer_out, sizeof(float), FILTERS * TAPS, buffer_out_file);
    fclose(buffer_out_file);

    cudaFree(weight);
    cudaFree(grad);
    cudaFree(buffer);
    cudaFree(weight_out);
    cudaFree(buffer_out);
    cudaFree(mean);
    return 0;
}
