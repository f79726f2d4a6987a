#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 150;
const int CLASSES = 120;

__global__ void margin_gradient_warp(const float* __restrict__ scores, const int* __restrict__ labels,
                                     float* __restrict__ grad) {
    const float scale = 2.0f / ROWS;
    const int lane = threadIdx.x & 31;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (row >= ROWS) return;
    const size_t base = (size_t)row * CLASSES;
    const int y = labels[row];
    const float shift = 1.0f - scores[base + y];
    float sum = 0.0f;
    // The label's own column goes through the loop as well: its margin is exactly 0 by the select.
    for (int k = lane; k < CLASSES; k += 32) {
        const float h = k == y ? 0.0f : fmaxf(0.0f, scores[base + k] + shift);
        if (k != y) grad[base + k] = scale * h;
        sum += h;
    }
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) grad[base + y] = -scale * sum;
}

int main() {
    std::vector<float> host_scores(ROWS * CLASSES);
    std::vector<int> host_labels(ROWS);
    std::vector<float> host_grad(ROWS * CLASSES);
    if (!std::ifstream("data/scores.bin", std::ios::binary)
             .read((char*)host_scores.data(), host_scores.size() * sizeof(float))) return 1;
    if (!std::ifstream("data/labels.bin", std::ios::binary)
             .read((char*)host_labels.data(), host_labels.size() * sizeof(int))) return 1;
    float *dev_scores, *dev_grad;
    int* dev_labels;
    cudaMalloc(&dev_scores, ROWS * CLASSES * sizeof(float));
    cudaMalloc(&dev_labels, ROWS * sizeof(int));
    cudaMalloc(&dev_grad, ROWS * CLASSES * sizeof(float));
    cudaMemcpy(dev_scores, host_scores.data(), ROWS * CLASSES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_labels, host_labels.data(), ROWS * sizeof(int), cudaMemcpyHostToDevice);
    margin_gradient_warp<<<(ROWS + 3) / 4, 128>>>(dev_scores, dev_labels, dev_grad);
    cudaMemcpy(host_grad.data(), dev_grad, ROWS * CLASSES * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/grad.bin", std::ios::binary).write((char*)host_grad.data(), host_grad.size() * sizeof(float));
    return 0;
}
