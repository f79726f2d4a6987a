#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kBatch = 2;
constexpr int kClasses = 4;
constexpr int kPixels = 1500;

__global__ void tversky(const float* probs, const int* labels, float* loss) {
    __shared__ float tp[512], fp[512], fn[512];
    int c = blockIdx.x, t = threadIdx.x;
    float a = 0.0f, b = 0.0f, d = 0.0f;
    for (int n = 0; n < kBatch; n++) {
        const float* p = probs + (size_t)(n * kClasses + c) * kPixels;
        const int* g = labels + n * kPixels;
        for (int i = t; i < kPixels; i += blockDim.x) {
            if (g[i] == c) {
                a += p[i];
                d += 1.0f - p[i];
            } else if (g[i] != 255) {
                b += p[i];
            }
        }
    }
    tp[t] = a;
    fp[t] = b;
    fn[t] = d;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) {
            tp[t] += tp[t + s];
            fp[t] += fp[t + s];
            fn[t] += fn[t + s];
        }
        __syncthreads();
    }
    if (t == 0) loss[c] = 1.0f - (tp[0] + 1.0f) / (tp[0] + 0.3f * fp[0] + 0.7f * fn[0] + 1.0f);
}

int main() {
    std::vector<float> h_probs(kBatch * kClasses * kPixels);
    std::vector<int> h_labels(kBatch * kPixels);
    std::vector<float> h_loss(kClasses);
    std::ifstream in_probs("data/probs.bin", std::ios::binary);
    in_probs.read(reinterpret_cast<char*>(h_probs.data()), h_probs.size() * sizeof(float));
    std::ifstream in_labels("data/labels.bin", std::ios::binary);
    in_labels.read(reinterpret_cast<char*>(h_labels.data()), h_labels.size() * sizeof(int));
    if (!in_probs || !in_labels) {
        std::cerr << "input files are missing or too short\n";
        return 1;
    }

    float *d_probs, *d_loss;
    int* d_labels;
    cudaMalloc(&d_probs, kBatch * kClasses * kPixels * sizeof(float));
    cudaMemcpy(d_probs, h_probs.data(), kBatch * kClasses * kPixels * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_labels, kBatch * kPixels * sizeof(int));
    cudaMemcpy(d_labels, h_labels.data(), kBatch * kPixels * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_loss, kClasses * sizeof(float));

    tversky<<<kClasses, 512>>>(d_probs, d_labels, d_loss);

    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaMemcpy(h_loss.data(), d_loss, kClasses * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream out_loss("data/loss.bin", std::ios::binary);
    out_loss.write(reinterpret_cast<const char*>(h_loss.data()), h_loss.size() * sizeof(float));

    cudaFree(d_probs);
    cudaFree(d_labels);
    cudaFree(d_loss);
    return 0;
}
