#include <cstdlib>
#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

void load_array(const char* path, float* dst, size_t n) {
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(dst), n * sizeof(float))) {
        std::cerr << "failed to load " << path << std::endl;
        exit(1);
    }
}

void load_array(const char* path, int* dst, size_t n) {
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(dst), n * sizeof(int))) {
        std::cerr << "failed to load " << path << std::endl;
        exit(1);
    }
}

void save_array(const char* path, const float* dst, size_t n) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(dst), n * sizeof(float));
}
//@given

const int ROWS = 200;
const int CLASSES = 100;
const int TOTAL = ROWS * CLASSES;

// A warp per row, one pass: the running sum is rescaled when a larger logit turns up.
__global__ void poly_loss_online(const float* __restrict__ logits, const int* __restrict__ labels,
        float* __restrict__ loss) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= ROWS) return;
    const float* x = logits + (size_t)row * CLASSES;
    float top = -1e30f, sum = 0.0f;
    for (int k = lane; k < CLASSES; k += 32) {
        const float v = x[k];
        if (v > top) {
            sum = sum * expf(top - v) + 1.0f;
            top = v;
        } else {
            sum += expf(v - top);
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        const float top2 = __shfl_xor_sync(0xffffffffu, top, d);
        const float sum2 = __shfl_xor_sync(0xffffffffu, sum, d);
        const float m = fmaxf(top, top2);
        sum = sum * expf(top - m) + sum2 * expf(top2 - m);
        top = m;
    }
    if (lane == 0) {
        const float logp = x[labels[row]] - top - logf(sum);
        loss[row] = 2.0f - 2.0f * expf(logp) - logp;
    }
}

int main() {
    float* h_logits = new float[TOTAL];
    int* h_labels = new int[ROWS];
    float* h_loss = new float[ROWS];
    load_array("data/logits.bin", h_logits, TOTAL);
    load_array("data/labels.bin", h_labels, ROWS);

    float* d_logits = nullptr;
    int* d_labels = nullptr;
    float* d_loss = nullptr;
    cudaMalloc(&d_logits, TOTAL * sizeof(float));
    cudaMalloc(&d_labels, ROWS * sizeof(int));
    cudaMalloc(&d_loss, ROWS * sizeof(float));
    cudaMemcpy(d_logits, h_logits, TOTAL * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_labels, h_labels, ROWS * sizeof(int), cudaMemcpyHostToDevice);

    poly_loss_online<<<(ROWS + 3) / 4, 128>>>(d_logits, d_labels, d_loss);

    cudaMemcpy(h_loss, d_loss, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/loss.bin", h_loss, ROWS);

    cudaFree(d_logits);
    cudaFree(d_labels);
    cudaFree(d_loss);
    delete[] h_logits;
    delete[] h_labels;
    delete[] h_loss;
    return 0;
}
