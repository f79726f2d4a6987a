#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define CHANNELS 3
#define HEIGHT 70
#define WIDTH 110

// The grid's y dimension is the channel: its three numbers are folded into a line and an exponent first.
__global__ void grade_plane(const float* __restrict__ image, const float* __restrict__ lift,
                            const float* __restrict__ gamma, const float* __restrict__ gain,
                                    float* __restrict__ out) {
    const int plane = HEIGHT * WIDTH;
    const int c = blockIdx.y;
    const float scale = gain[c] * (1.0f - lift[c]);
    const float offset = gain[c] * lift[c];
    const float power = 1.0f / gamma[c];
    const float* src = image + (size_t)c * plane;
    float* dst = out + (size_t)c * plane;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < plane; i += gridDim.x * blockDim.x) {
        float t = fmaf(scale, src[i], offset);
        if (t <= 0.0f) dst[i] = 0.0f;
        else if (t >= 1.0f) dst[i] = 1.0f;
        else dst[i] = exp2f(power * log2f(t));
    }
}

int main() {
    const int size = CHANNELS * HEIGHT * WIDTH;
    std::vector<float> h_image(size), h_lift(CHANNELS), h_gamma(CHANNELS), h_gain(CHANNELS), h_graded(size);
    FILE* f0 = fopen("data/image.bin", "rb");
    if (!f0 || fread(h_image.data(), size * sizeof(float), 1, f0) != 1) return 1;
    fclose(f0);
    FILE* f1 = fopen("data/lift.bin", "rb");
    if (!f1 || fread(h_lift.data(), CHANNELS * sizeof(float), 1, f1) != 1) return 1;
    fclose(f1);
    FILE* f2 = fopen("data/gamma.bin", "rb");
    if (!f2 || fread(h_gamma.data(), CHANNELS * sizeof(float), 1, f2) != 1) return 1;
    fclose(f2);
    FILE* f3 = fopen("data/gain.bin", "rb");
    if (!f3 || fread(h_gain.data(), CHANNELS * sizeof(float), 1, f3) != 1) return 1;
    fclose(f3);
    float *d_image, *d_lift, *d_gamma, *d_gain, *d_graded;
    cudaMalloc(&d_image, size * sizeof(float));
    cudaMalloc(&d_lift, CHANNELS * sizeof(float));
    cudaMalloc(&d_gamma, CHANNELS * sizeof(float));
    cudaMalloc(&d_gain, CHANNELS * sizeof(float));
    cudaMalloc(&d_graded, size * sizeof(float));
    cudaMemcpy(d_image, h_image.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_lift, h_lift.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gamma, h_gamma.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gain, h_gain.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
    const int plane = HEIGHT * WIDTH;
    int across = (plane + 1023) / 1024;
    grade_plane<<<dim3(across, CHANNELS), 256>>>(d_image, d_lift, d_gamma, d_gain, d_graded);
    cudaMemcpy(h_graded.data(), d_graded, size * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* o0 = fopen("data/graded.bin", "wb");
    fwrite(h_graded.data(), size * sizeof(float), 1, o0);
    fclose(o0);
    return 0;
}
