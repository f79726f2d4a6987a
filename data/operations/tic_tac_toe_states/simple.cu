#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define N 4000

__device__ bool has_won(const unsigned char* b, int p) {
    for (int k = 0; k < 3; ++k) {
        if (b[3 * k] == p && b[3 * k + 1] == p && b[3 * k + 2] == p) return true;
        if (b[k] == p && b[k + 3] == p && b[k + 6] == p) return true;
    }
    if (b[4] != p) return false;
    return (b[0] == p && b[8] == p) || (b[2] == p && b[6] == p);
}

__global__ void judge(const unsigned char* boards, unsigned char* state, int* totals) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const unsigned char* b = boards + (size_t)i * 9;
    int crosses = 0, noughts = 0;
    for (int k = 0; k < 9; ++k) {
        crosses += b[k] == 1;
        noughts += b[k] == 2;
    }
    bool win1 = has_won(b, 1), win2 = has_won(b, 2);
    int extra = crosses - noughts;
    int code = 0;
    if (extra < 0 || extra > 1 || (win1 && win2) || (win1 && extra == 0) || (win2 && extra == 1)) code = 4;
    else if (win1) code = 1;
    else if (win2) code = 2;
    else if (crosses + noughts == 9) code = 3;
    state[i] = (unsigned char)code;
    atomicAdd(&totals[code], 1);
}

int main() {
    const size_t count = (size_t)N * 9;
    std::vector<unsigned char> boards(count);
    std::vector<unsigned char> state(N);
    std::vector<int> totals(5);
    if (!std::ifstream("data/boards.bin", std::ios::binary).read((char*)boards.data(),
        count * sizeof(unsigned char))) return 1;
    unsigned char* d_boards; cudaMalloc(&d_boards, count * sizeof(unsigned char));
    unsigned char* d_state; cudaMalloc(&d_state, N * sizeof(unsigned char));
    int* d_totals; cudaMalloc(&d_totals, 5 * sizeof(int));
    cudaMemcpy(d_boards, boards.data(), count * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemset(d_totals, 0, 5 * sizeof(int));
    const int threads = 256;
    judge<<<(N + threads - 1) / threads, threads>>>(d_boards, d_state, d_totals);
    cudaMemcpy(state.data(), d_state, N * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(totals.data(), d_totals, 5 * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/state.bin", std::ios::binary).write((char*)state.data(), N * sizeof(unsigned char));
    std::ofstream("data/totals.bin", std::ios::binary).write((char*)totals.data(), 5 * sizeof(int));
    return 0;
}
