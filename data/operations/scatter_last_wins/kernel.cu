#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define SIZE 6000
#define UPDATES 9000

// Number and value of an update form one 64-bit key, so a single atomic maximum carries the value along.
__global__ void offer(const int* __restrict__ position, const float* __restrict__ value,
                      unsigned long long* keys) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= UPDATES) return;
    const unsigned int p = (unsigned int)position[i];
    if (p >= (unsigned int)SIZE) return;
    atomicMax(&keys[p], ((unsigned long long)(i + 1) << 32) | __float_as_uint(value[i]));
}

__global__ void unpack(const float* __restrict__ initial, const unsigned long long* __restrict__ keys,
                       float* __restrict__ result, int* __restrict__ winner) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= SIZE) return;
    const unsigned long long key = keys[i];
    winner[i] = (int)(key >> 32) - 1;
    result[i] = key ? __uint_as_float((unsigned int)key) : initial[i];
}

int main() {
    std::vector<float> initial(SIZE), value(UPDATES), final(SIZE);
    std::vector<int> position(UPDATES), winner(SIZE);
    std::ifstream f_initial("data/initial.bin", std::ios::binary);
    if (!f_initial.read((char*)initial.data(), SIZE * sizeof(float))) return 1;
    std::ifstream f_position("data/position.bin", std::ios::binary);
    if (!f_position.read((char*)position.data(), UPDATES * sizeof(int))) return 1;
    std::ifstream f_value("data/value.bin", std::ios::binary);
    if (!f_value.read((char*)value.data(), UPDATES * sizeof(float))) return 1;
    float *d_initial, *d_value, *d_final;
    int *d_position, *d_winner;
    long long *d_keys;
    cudaMalloc(&d_initial, SIZE * sizeof(float));
    cudaMalloc(&d_position, UPDATES * sizeof(int));
    cudaMalloc(&d_value, UPDATES * sizeof(float));
    cudaMalloc(&d_final, SIZE * sizeof(float));
    cudaMalloc(&d_winner, SIZE * sizeof(int));
    cudaMalloc(&d_keys, SIZE * sizeof(long long));
    cudaMemcpy(d_initial, initial.data(), SIZE * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_position, position.data(), UPDATES * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_value, value.data(), UPDATES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(d_keys, 0, SIZE * sizeof(long long));
    offer<<<(UPDATES + 255) / 256, 256>>>(d_position, d_value, (unsigned long long*)d_keys);
    unpack<<<(SIZE + 255) / 256, 256>>>(d_initial, (unsigned long long*)d_keys, d_final, d_winner);
    cudaMemcpy(final.data(), d_final, SIZE * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(winner.data(), d_winner, SIZE * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/final.bin", std::ios::binary).write((char*)final.data(), SIZE * sizeof(float));
    std::ofstream("data/winner.bin", std::ios::binary).write((char*)winner.data(), SIZE * sizeof(int));
    return 0;
}
