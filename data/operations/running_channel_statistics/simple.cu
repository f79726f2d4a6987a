#include <fstream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kSamples = 300;
constexpr int kChannels = 70;

// Blocks of 32 channels x 8 sample lanes.
__global__ void update_stats(const float* x, const float* running_mean, const float* running_var,
                             float* new_mean, float* new_var) {
    __shared__ float part[8][32];
    int c = blockIdx.x * 32 + threadIdx.x;
    int lane = threadIdx.y;
    float sum = 0.0f;
    if (c < kChannels)
        for (int s = lane; s < kSamples; s += 8) sum += x[(size_t)s * kChannels + c];
    part[lane][threadIdx.x] = sum;
    __syncthreads();
    float mean = 0.0f;
    for (int k = 0; k < 8; ++k) mean += part[k][threadIdx.x];
    mean /= kSamples;
    __syncthreads();
    float sq = 0.0f;
    if (c < kChannels)
        for (int s = lane; s < kSamples; s += 8) {
            float d = x[(size_t)s * kChannels + c] - mean;
            sq += d * d;
        }
    part[lane][threadIdx.x] = sq;
    __syncthreads();
    if (lane == 0 && c < kChannels) {
        float var = 0.0f;
        for (int k = 0; k < 8; ++k) var += part[k][threadIdx.x];
        var /= kSamples - 1;
        new_mean[c] = 0.9f * running_mean[c] + 0.1f * mean;
        new_var[c] = 0.9f * running_var[c] + 0.1f * var;
    }
}

int main() {
    const size_t x_count = kSamples * kChannels;
    std::vector<float> host_x(x_count), host_running_mean(kChannels), host_running_var(kChannels),
        host_new_mean(kChannels), host_new_var(kChannels);
    std::ifstream in_x("data/x.bin", std::ios::binary);
    if (!in_x.read((char*)host_x.data(), x_count * sizeof(float))) return 1;
    std::ifstream in_running_mean("data/running_mean.bin", std::ios::binary);
    if (!in_running_mean.read((char*)host_running_mean.data(), kChannels * sizeof(float))) return 1;
    std::ifstream in_running_var("data/running_var.bin", std::ios::binary);
    if (!in_running_var.read((char*)host_running_var.data(), kChannels * sizeof(float))) return 1;
    float *d_x, *d_running_mean, *d_running_var, *d_new_mean, *d_new_var;
    cudaMalloc(&d_x, x_count * sizeof(float));
    cudaMalloc(&d_running_mean, kChannels * sizeof(float));
    cudaMalloc(&d_running_var, kChannels * sizeof(float));
    cudaMalloc(&d_new_mean, kChannels * sizeof(float));
    cudaMalloc(&d_new_var, kChannels * sizeof(float));
    cudaMemcpy(d_x, host_x.data(), x_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_running_mean, host_running_mean.data(), kChannels * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_running_var, host_running_var.data(), kChannels * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(32, 8);
    update_stats<<<(kChannels + 32 - 1) / 32, block>>>(d_x, d_running_mean, d_running_var, d_new_mean, d_new_var);
    cudaMemcpy(host_new_mean.data(), d_new_mean, kChannels * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_new_var.data(), d_new_var, kChannels * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/new_mean.bin", std::ios::binary).write((char*)host_new_mean.data(),
        kChannels * sizeof(float));
    std::ofstream("data/new_var.bin", std::ios::binary).write((char*)host_new_var.data(),
        kChannels * sizeof(float));
    cudaFree(d_x);
    cudaFree(d_running_mean);
    cudaFree(d_running_var);
    cudaFree(d_new_mean);
    cudaFree(d_new_var);
}
