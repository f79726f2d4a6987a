#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define N 12000

__global__ void group_running_max(const float* x, const int* id, float* top, int* seen) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    // The first record of a group walks through the whole group.
    if (i > 0 && id[i - 1] == id[i]) return;
    int group = id[i];
    float best = x[i];
    for (int j = i; j < N && id[j] == group; ++j) {
        best = fmaxf(best, x[j]);
        top[j] = best;
        seen[j] = j - i + 1;
    }
}

int main() {
    std::vector<float> h_x(N), h_top(N);
    std::vector<int> h_id(N), h_seen(N);
    std::ifstream f0("data/x.bin", std::ios::binary);
    if (!f0.read((char*)h_x.data(), N * sizeof(float))) return 1;
    std::ifstream f1("data/id.bin", std::ios::binary);
    if (!f1.read((char*)h_id.data(), N * sizeof(int))) return 1;
    float* d_x;
    float* d_top;
    int* d_id;
    int* d_seen;
    cudaMalloc(&d_x, N * sizeof(float));
    cudaMalloc(&d_id, N * sizeof(int));
    cudaMalloc(&d_top, N * sizeof(float));
    cudaMalloc(&d_seen, N * sizeof(int));
    cudaMemcpy(d_x, h_x.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_id, h_id.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    group_running_max<<<(N + 128 - 1) / 128, 128>>>(d_x, d_id, d_top, d_seen);
    cudaMemcpy(h_top.data(), d_top, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_seen.data(), d_seen, N * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/top.bin", std::ios::binary).write((char*)h_top.data(), N * sizeof(float));
    std::ofstream("data/seen.bin", std::ios::binary).write((char*)h_seen.data(), N * sizeof(int));
    cudaFree(d_x); cudaFree(d_id); cudaFree(d_top); cudaFree(d_seen);
    return 0;
}
