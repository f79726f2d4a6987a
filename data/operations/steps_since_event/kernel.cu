#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int ROWS = 70;
constexpr int COLS = 300;
constexpr int BLOCK = 256;

// A block per row. Ballots find the last event within each warp; the warps' results are joined in shared memory.
__global__ void steps_since_block(const unsigned char* __restrict__ event, int* __restrict__ age) {
    __shared__ int lastInWarp[BLOCK / 32];
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x >> 5;
    size_t base = (size_t)blockIdx.x * COLS;
    int carry = -1;
    for (int start = 0; start < COLS; start += BLOCK) {
        int c = start + threadIdx.x;
        bool hit = c < COLS && event[base + c] != 0;
        unsigned int votes = __ballot_sync(0xffffffffu, hit);
        if (lane == 0) lastInWarp[warp] = votes ? c + 31 - __clz(votes) : -1;
        __syncthreads();
        unsigned int upToMe = votes & (0xffffffffu >> (31 - lane));
        int last = upToMe ? (c - lane) + 31 - __clz(upToMe) : -1;
        for (int w = 0; w < warp; ++w) last = max(last, lastInWarp[w]);
        last = max(last, carry);
        if (c < COLS) age[base + c] = last >= 0 ? c - last : -1;
        for (int w = 0; w < BLOCK / 32; ++w) carry = max(carry, lastInWarp[w]);
        __syncthreads();
    }
}

void solve(const unsigned char* d_event, int* d_age) {
    steps_since_block<<<ROWS, BLOCK>>>(d_event, d_age);
}

int main() {
    const size_t total = (size_t)ROWS * COLS;
    std::vector<unsigned char> h_event(total);
    std::vector<int> h_age(total);
    std::ifstream in("data/event.bin", std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(h_event.data()), total * sizeof(unsigned char))) {
        std::cerr << "no data/event.bin\n";
        return 1;
    }

    unsigned char* d_event;
    int* d_age = nullptr;
    cudaMalloc(&d_event, total * sizeof(unsigned char));
    cudaMalloc(&d_age, total * sizeof(int));
    cudaMemcpy(d_event, h_event.data(), total * sizeof(unsigned char), cudaMemcpyHostToDevice);

    solve(d_event, d_age);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA failure: " << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(h_age.data(), d_age, total * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out("data/age.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_age.data()), total * sizeof(int));
    cudaFree(d_event);
    cudaFree(d_age);
    return 0;
}
