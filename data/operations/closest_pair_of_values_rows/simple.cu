#include <cfloat>
#include <climits>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 120
#define WIDTH 40
#define BLOCK 64

__global__ void closest_pair(const float* x, float* gap, int* first, int* second) {
    __shared__ float dist[BLOCK];
    __shared__ int pair[BLOCK];
    const float* row = x + (size_t)blockIdx.x * WIDTH;
    int t = threadIdx.x;
    float best = FLT_MAX;
    int code = INT_MAX;
    for (int i = t; i < WIDTH - 1; i += BLOCK) {
        for (int j = i + 1; j < WIDTH; ++j) {
            float d = fabsf(row[i] - row[j]);
            if (d < best) {
                best = d;
                code = i * WIDTH + j;
            }
        }
    }
    dist[t] = best;
    pair[t] = code;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s && (dist[t + s] < dist[t] || (dist[t + s] == dist[t] && pair[t + s] < pair[t]))) {
            dist[t] = dist[t + s];
            pair[t] = pair[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        gap[blockIdx.x] = dist[0];
        first[blockIdx.x] = pair[0] / WIDTH;
        second[blockIdx.x] = pair[0] % WIDTH;
    }
}

int main() {
    const size_t count = (size_t)ROWS * WIDTH;
    std::vector<float> x(count), gap(ROWS);
    std::vector<int> first(ROWS), second(ROWS);
    std::ifstream f("data/x.bin", std::ios::binary);
    if (!f.read((char*)x.data(), count * sizeof(float))) return 1;
    float* dev_x;
    float* dev_gap;
    int* dev_first;
    int* dev_second;
    cudaMalloc(&dev_x, count * sizeof(float));
    cudaMalloc(&dev_gap, ROWS * sizeof(float));
    cudaMalloc(&dev_first, ROWS * sizeof(int));
    cudaMalloc(&dev_second, ROWS * sizeof(int));
    cudaMemcpy(dev_x, x.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    closest_pair<<<ROWS, BLOCK>>>(dev_x, dev_gap, dev_first, dev_second);
    cudaMemcpy(gap.data(), dev_gap, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(first.data(), dev_first, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(second.data(), dev_second, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/gap.bin", std::ios::binary).write((char*)gap.data(), ROWS * sizeof(float));
    std::ofstream("data/first.bin", std::ios::binary).write((char*)first.data(), ROWS * sizeof(int));
    std::ofstream("data/second.bin", std::ios::binary).write((char*)second.data(), ROWS * sizeof(int));
    cudaFree(dev_x); cudaFree(dev_gap); cudaFree(dev_first); cudaFree(dev_second);
    return 0;
}
