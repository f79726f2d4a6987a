#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void load_array(const std::string& path, T* dst, size_t count) {
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(dst), count * sizeof(T));
    if (!in) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
}

template <typename T>
void save_array(const std::string& path, const T* dst, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(dst), count * sizeof(T));
}
//@given

const int N = 400;
const int WARPS = 4;

// A warp takes one board: lane u counts unit u with nine counters of four bits in a 64-bit word.
__global__ void check_boards_warp(const uint8_t* __restrict__ boards, int* __restrict__ conflicts,
                                  uint8_t* __restrict__ status) {
    __shared__ uint8_t cells[WARPS][81];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int i = blockIdx.x * WARPS + warp;
    if (i < N) {
        for (int k = lane; k < 81; k += 32) cells[warp][k] = boards[(size_t)i * 81 + k];
    }
    __syncthreads();
    if (i >= N) return;
    int pairs = 0;
    bool gap = false;
    if (lane < 27) {
        const int type = lane / 9, u = lane % 9;
        unsigned long long counters = 0;
        for (int k = 0; k < 9; ++k) {
            int cell = type == 0 ? 9 * u + k : type == 1 ? 9 * k + u : 27 * (u / 3) + 3 * (u % 3) + 9 * (k / 3) + k % 3;
            int d = cells[warp][cell];
            if (d == 0) {
                gap = true;
            } else {
                pairs += (int)(counters >> (4 * d)) & 15;
                counters += 1ull << (4 * d);
            }
        }
    }
    const bool any_gap = __any_sync(0xffffffffu, gap);
    for (int s = 16; s > 0; s >>= 1) pairs += __shfl_down_sync(0xffffffffu, pairs, s);
    if (lane == 0) {
        conflicts[i] = pairs;
        status[i] = pairs ? 0 : any_gap ? 1 : 2;
    }
}

int main() {
    const size_t count = N * 9 * 9;
    uint8_t* h_boards = new uint8_t[count];
    int* h_conflicts = new int[N];
    uint8_t* h_status = new uint8_t[N];
    load_array("data/boards.bin", h_boards, count);

    uint8_t* d_boards;
    cudaMalloc(&d_boards, count * sizeof(uint8_t));
    int* d_conflicts;
    cudaMalloc(&d_conflicts, N * sizeof(int));
    uint8_t* d_status;
    cudaMalloc(&d_status, N * sizeof(uint8_t));
    cudaMemcpy(d_boards, h_boards, count * sizeof(uint8_t), cudaMemcpyHostToDevice);

    check_boards_warp<<<(N + WARPS - 1) / WARPS, 32 * WARPS>>>(d_boards, d_conflicts, d_status);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(h_conflicts, d_conflicts, N * sizeof(int), cudaMemcpyDeviceToHost);
    save_array("data/conflicts.bin", h_conflicts, N);
    cudaMemcpy(h_status, d_status, N * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    save_array("data/status.bin", h_status, N);

    delete[] h_boards;
    delete[] h_conflicts;
    delete[] h_status;
    cudaFree(d_boards);
    cudaFree(d_conflicts);
    cudaFree(d_status);
    return 0;
}
