#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_data(const std::string& filename, float* buffer, size_t n) {
    std::ifstream stream(filename, std::ios::binary);
    stream.read(reinterpret_cast<char*>(buffer), n * sizeof(float));
    if (!stream) {
        std::cerr << "cannot read " << filename << std::endl;
        exit(1);
    }
}

void save_data(const std::string& filename, const float* buffer, size_t n) {
    std::ofstream file(filename, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), n * sizeof(float));
}
//@given

constexpr int ROWS = 300;
constexpr int CLASSES = 100;

__global__ void taylor_softmax(const float* logits, float* probs) {
    __shared__ float sums[128];
    size_t base = (size_t)blockIdx.x * CLASSES;
    float acc = 0.0f;
    for (int c = threadIdx.x; c < CLASSES; c += 128) {
        float v = logits[base + c];
        float t = 1.0f + v + 0.5f * v * v;
        probs[base + c] = t;
        acc += t;
    }
    sums[threadIdx.x] = acc;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    for (int c = threadIdx.x; c < CLASSES; c += 128) probs[base + c] /= sums[0];
}

int main() {
    const size_t n_total = (size_t)ROWS * CLASSES;
    float* h_logits = new float[n_total];
    float* h_probs = new float[n_total];
    load_data("data/logits.bin", h_logits, n_total);

    float *d_logits, *d_probs;
    cudaMalloc((void**)&d_logits, n_total * sizeof(float));
    cudaMalloc((void**)&d_probs, n_total * sizeof(float));
    cudaMemcpy(d_logits, h_logits, n_total * sizeof(float), cudaMemcpyHostToDevice);

    taylor_softmax<<<ROWS, 128>>>(d_logits, d_probs);
    cudaDeviceSynchronize();

    cudaMemcpy(h_probs, d_probs, n_total * sizeof(float), cudaMemcpyDeviceToHost);
    save_data("data/probs.bin", h_probs, n_total);

    cudaFree(d_logits);
    cudaFree(d_probs);
    delete[] h_logits;
    delete[] h_probs;
    return 0;
}
