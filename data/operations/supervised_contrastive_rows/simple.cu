#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

#define N 150
#define NUM_ELEMENTS (N * N)

__global__ void contrastive(const float* similarity, const int* labels, float* loss, int n) {
    __shared__ float denom[256], posSum[256];
    __shared__ int posCount[256];
    int i = blockIdx.x, t = threadIdx.x;
    float d = 0.0f, p = 0.0f;
    int c = 0;
    for (int a = t; a < n; a += 256) {
        if (a == i) continue;
        float x = similarity[(size_t)i * n + a] / 0.1f;
        d += expf(x);
        if (labels[a] == labels[i]) {
            p += x;
            c++;
        }
    }
    denom[t] = d;
    posSum[t] = p;
    posCount[t] = c;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) {
            denom[t] += denom[t + s];
            posSum[t] += posSum[t + s];
            posCount[t] += posCount[t + s];
        }
        __syncthreads();
    }
    if (t == 0) loss[i] = posCount[0] > 0 ? logf(denom[0]) - posSum[0] / posCount[0] : 0.0f;
}

int main() {
    float *similarity, *loss;
    int* labels;
    cudaMallocManaged(&similarity, NUM_ELEMENTS * sizeof(float));
    cudaMallocManaged(&labels, N * sizeof(int));
    cudaMallocManaged(&loss, N * sizeof(float));

    std::ifstream similarity_file("data/similarity.bin", std::ios::binary);
    if (!similarity_file.read(reinterpret_cast<char*>(similarity), NUM_ELEMENTS * sizeof(float))) {
        std::cerr << "data/similarity.bin: read error" << std::endl;
        return 1;
    }
    std::ifstream labels_file("data/labels.bin", std::ios::binary);
    if (!labels_file.read(reinterpret_cast<char*>(labels), N * sizeof(int))) {
        std::cerr << "data/labels.bin: read error" << std::endl;
        return 1;
    }

    contrastive<<<N, 256>>>(similarity, labels, loss, N);
    cudaDeviceSynchronize();

    std::ofstream loss_file("data/loss.bin", std::ios::binary);
    loss_file.write(reinterpret_cast<const char*>(loss), N * sizeof(float));

    cudaFree(similarity);
    cudaFree(labels);
    cudaFree(loss);
    return 0;
}
