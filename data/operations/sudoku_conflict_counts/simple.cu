#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int N = 400;

__global__ void check_boards(const unsigned char* boards, int* conflicts, unsigned char* status) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const unsigned char* b = boards + (size_t)i * 81;
    int pairs = 0, empty = 0;
    for (int unit = 0; unit < 27; ++unit) {
        int seen[10] = {0};
        for (int k = 0; k < 9; ++k) {
            int r, c;
            if (unit < 9) { r = unit; c = k; }
            else if (unit < 18) { r = k; c = unit - 9; }
            else { r = (unit - 18) / 3 * 3 + k / 3; c = (unit - 18) % 3 * 3 + k % 3; }
            int d = b[r * 9 + c];
            if (d == 0) ++empty;
            else pairs += seen[d]++;
        }
    }
    conflicts[i] = pairs;
    status[i] = pairs > 0 ? 0 : (empty > 0 ? 1 : 2);
}

void compute_on_gpu(const unsigned char* d_boards, int* d_conflicts, unsigned char* d_status) {
    int block = 64;
    check_boards<<<(N + block - 1) / block, block>>>(d_boards, d_conflicts, d_status);
}

int main() {
    const size_t count = N * 9 * 9;
    std::vector<unsigned char> boards(count);
    std::vector<int> conflicts(N);
    std::vector<unsigned char> status(N);
    if (!std::ifstream("data/boards.bin", std::ios::binary)
             .read((char*)boards.data(), count * sizeof(unsigned char))) {
        std::cerr << "data/boards.bin is missing or short\n";
        return 1;
    }

    unsigned char *d_boards, *d_status;
    int *d_conflicts;
    cudaMalloc(&d_boards, count * sizeof(unsigned char));
    cudaMalloc(&d_conflicts, N * sizeof(int));
    cudaMalloc(&d_status, N * sizeof(unsigned char));
    cudaMemcpy(d_boards, boards.data(), count * sizeof(unsigned char), cudaMemcpyHostToDevice);
    compute_on_gpu(d_boards, d_conflicts, d_status);
    cudaMemcpy(conflicts.data(), d_conflicts, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(status.data(), d_status, N * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    std::ofstream("data/conflicts.bin", std::ios::binary)
        .write((const char*)conflicts.data(), N * sizeof(int));
    std::ofstream("data/status.bin", std::ios::binary)
        .write((const char*)status.data(), N * sizeof(unsigned char));
    cudaFree(d_boards);
    cudaFree(d_conflicts);
    cudaFree(d_status);
    return 0;
}
