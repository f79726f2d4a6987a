#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void load_values(const std::string& path, T* data, size_t size) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream.read(reinterpret_cast<char*>(data), size * sizeof(T))) {
        std::cerr << "Bad input " << path << std::endl;
        exit(EXIT_FAILURE);
    }
}

template <typename T>
void store_values(const std::string& path, const T* data, size_t size) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), size * sizeof(T));
}
//@given

const int ROWS = 60;
const int COLS = 400;
const int WARPS = 4;

// A warp per row: the state of a lane is decided by the nearest decisive sample at or before it.
__global__ void schmitt_warp(const float* __restrict__ x, const float* __restrict__ low,
                             const float* __restrict__ high, unsigned char* state, int* switches) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32;
    if (r >= ROWS) return;
    int lane = threadIdx.x % 32;
    float lo = low[r], hi = high[r];
    size_t base = (size_t)r * COLS;
    unsigned int carry = 0;
    int changes = 0;
    for (int start = 0; start < COLS; start += 32) {
        int c = start + lane;
        float v = c < COLS ? x[base + c] : 0.0f;
        unsigned int up = __ballot_sync(0xffffffffu, c < COLS && v >= hi);
        unsigned int down = __ballot_sync(0xffffffffu, c < COLS && v <= lo);
        unsigned int decisive = (up | down) & (0xffffffffu >> (31 - lane));
        unsigned int s = carry;
        if (decisive) s = (up >> (31 - __clz(decisive))) & 1u;
        unsigned int states = __ballot_sync(0xffffffffu, s);
        if (c < COLS) state[base + c] = (unsigned char)s;
        changes += __popc(states ^ ((states << 1) | carry));
        carry = states >> 31;
    }
    if (lane == 0) switches[r] = changes;
}

int main() {
    const size_t size = (size_t)ROWS * COLS;
    float* h_x = new float[size];
    load_values("data/x.bin", h_x, size);
    float* h_low = new float[ROWS];
    load_values("data/low.bin", h_low, ROWS);
    float* h_high = new float[ROWS];
    load_values("data/high.bin", h_high, ROWS);
    unsigned char* h_state = new unsigned char[size];
    int* h_switches = new int[ROWS];

    float *d_x, *d_low, *d_high;
    unsigned char* d_state = nullptr;
    int* d_switches = nullptr;
    cudaMalloc(&d_x, size * sizeof(float));
    cudaMalloc(&d_low, ROWS * sizeof(float));
    cudaMalloc(&d_high, ROWS * sizeof(float));
    cudaMalloc(&d_state, size * sizeof(unsigned char));
    cudaMalloc(&d_switches, ROWS * sizeof(int));
    cudaMemcpy(d_x, h_x, size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_low, h_low, ROWS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_high, h_high, ROWS * sizeof(float), cudaMemcpyHostToDevice);

    schmitt_warp<<<(ROWS + WARPS - 1) / WARPS, 32 * WARPS>>>(d_x, d_low, d_high, d_state, d_switches);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_state, d_state, size * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_switches, d_switches, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    store_values("data/state.bin", h_state, size);
    store_values("data/switches.bin", h_switches, ROWS);

    cudaFree(d_x);
    cudaFree(d_low);
    cudaFree(d_high);
    cudaFree(d_state);
    cudaFree(d_switches);
    delete[] h_x;
    delete[] h_low;
    delete[] h_high;
    delete[] h_state;
    delete[] h_switches;
    return 0;
}
