#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

constexpr int NODES = 1500;
constexpr int WIDTH = 8;
constexpr int GROUP = 8;
constexpr int PER_BLOCK = 32;

// Eight lanes share a vertex, so that the rows of both tables are read in order.
__global__ void best_move_grouped(const int* __restrict__ neighbor, const float* __restrict__ gain,
                                  const float* __restrict__ potential, float* best, int* choice) {
    int lane = threadIdx.x % GROUP;
    int v = blockIdx.x * PER_BLOCK + threadIdx.x / GROUP;
    float top = -1000.0f;
    int slot = WIDTH;
    if (v < NODES) {
        for (int k = lane; k < WIDTH; k += GROUP) {
            int u = neighbor[v * WIDTH + k];
            if (u >= 0) {
                float value = gain[v * WIDTH + k] + potential[u];
                if (slot == WIDTH || value > top) {
                    top = value;
                    slot = k;
                }
            }
        }
    }
    for (int d = GROUP / 2; d > 0; d /= 2) {
        float other = __shfl_down_sync(0xffffffffu, top, d, GROUP);
        int other_slot = __shfl_down_sync(0xffffffffu, slot, d, GROUP);
        bool take = other_slot < WIDTH && (slot == WIDTH || other > top || (other == top && other_slot < slot));
        if (take) {
            top = other;
            slot = other_slot;
        }
    }
    if (v < NODES && lane == 0) {
        best[v] = top;
        choice[v] = slot < WIDTH ? slot : -1;
    }
}

int main() {
    int* neighbor = nullptr;
    float* gain = nullptr;
    float* potential = nullptr;
    float* best = nullptr;
    int* choice = nullptr;
    cudaMallocManaged(&neighbor, NODES * WIDTH * sizeof(int));
    cudaMallocManaged(&gain, NODES * WIDTH * sizeof(float));
    cudaMallocManaged(&potential, NODES * sizeof(float));
    cudaMallocManaged(&best, NODES * sizeof(float));
    cudaMallocManaged(&choice, NODES * sizeof(int));

    std::ifstream neighbor_file("data/neighbor.bin", std::ios::binary);
    neighbor_file.read(reinterpret_cast<char*>(neighbor), NODES * WIDTH * sizeof(int));
    std::ifstream gain_file("data/gain.bin", std::ios::binary);
    gain_file.read(reinterpret_cast<char*>(gain), NODES * WIDTH * sizeof(float));
    std::ifstream potential_file("data/potential.bin", std::ios::binary);
    potential_file.read(reinterpret_cast<char*>(potential), NODES * sizeof(float));
    if (!neighbor_file || !gain_file || !potential_file) {
        std::cerr << "input missing or too short\n";
        return 1;
    }

    best_move_grouped<<<(NODES + PER_BLOCK - 1) / PER_BLOCK, PER_BLOCK * GROUP>>>(neighbor, gain,
            potential, best, choice);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    std::ofstream("data/best.bin", std::ios::binary).write(reinterpret_cast<char*>(best),
            NODES * sizeof(float));
    std::ofstream("data/choice.bin", std::ios::binary).write(reinterpret_cast<char*>(choice),
            NODES * sizeof(int));

    cudaFree(neighbor);
    cudaFree(gain);
    cudaFree(potential);
    cudaFree(best);
    cudaFree(choice);
    return 0;
}
