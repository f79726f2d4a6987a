#include <fstream>
#include <vector>
#include <cuda_runtime.h>

constexpr int SIGNALS = 6;
constexpr int NODES = 1000;
constexpr int EDGES = 4000;
constexpr int BLOCK = 256;
constexpr int SLICES = 32;

__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

// blockIdx.x is the slice of the edges and vertices, blockIdx.y the signal.
__global__ void add_slices(const int2* __restrict__ edge, const float* __restrict__ weight,
                           const float* __restrict__ signal, float* energy, float* norm) {
    const float* x = signal + (size_t)blockIdx.y * NODES;
    float e = 0.0f, q = 0.0f;
    for (int k = blockIdx.x * BLOCK + threadIdx.x; k < EDGES; k += SLICES * BLOCK) {
        int2 ends = edge[k];
        float d = x[ends.x] - x[ends.y];
        e = fmaf(weight[k] * d, d, e);
    }
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < NODES; i += SLICES * BLOCK) q = fmaf(x[i], x[i], q);
    e = warp_sum(e);
    q = warp_sum(q);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&energy[blockIdx.y], e);
        atomicAdd(&norm[blockIdx.y], q);
    }
}

__global__ void divide(const float* energy, const float* norm, float* quotient) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < SIGNALS) quotient[s] = energy[s] / norm[s];
}

int main() {
    std::vector<int> edge(EDGES * 2);
    std::vector<float> weight(EDGES);
    std::vector<float> signal(SIGNALS * NODES);
    std::vector<float> energy(SIGNALS);
    std::vector<float> quotient(SIGNALS);
    std::ifstream in_edge("data/edge.bin", std::ios::binary);
    if (!in_edge.read((char*)edge.data(), EDGES * 2 * sizeof(int))) return 1;
    std::ifstream in_weight("data/weight.bin", std::ios::binary);
    if (!in_weight.read((char*)weight.data(), EDGES * sizeof(float))) return 1;
    std::ifstream in_signal("data/signal.bin", std::ios::binary);
    if (!in_signal.read((char*)signal.data(), SIGNALS * NODES * sizeof(float))) return 1;
    int *edge_d;
    float *weight_d, *signal_d, *energy_d, *quotient_d, *norm_d;
    cudaMalloc(&edge_d, EDGES * 2 * sizeof(int));
    cudaMemcpy(edge_d, edge.data(), EDGES * 2 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&weight_d, EDGES * sizeof(float));
    cudaMemcpy(weight_d, weight.data(), EDGES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&signal_d, SIGNALS * NODES * sizeof(float));
    cudaMemcpy(signal_d, signal.data(), SIGNALS * NODES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&energy_d, SIGNALS * sizeof(float));
    cudaMalloc(&quotient_d, SIGNALS * sizeof(float));
    cudaMalloc(&norm_d, SIGNALS * sizeof(float));
    cudaMemset(energy_d, 0, SIGNALS * sizeof(float));
    cudaMemset(norm_d, 0, SIGNALS * sizeof(float));
    add_slices<<<dim3(SLICES, SIGNALS), BLOCK>>>((const int2*)edge_d, weight_d, signal_d, energy_d, norm_d);
    divide<<<(SIGNALS + 63) / 64, 64>>>(energy_d, norm_d, quotient_d);
    cudaMemcpy(energy.data(), energy_d, SIGNALS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(quotient.data(), quotient_d, SIGNALS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/energy.bin", std::ios::binary).write((char*)energy.data(), SIGNALS * sizeof(float));
    std::ofstream("data/quotient.bin", std::ios::binary).write((char*)quotient.data(), SIGNALS * sizeof(float));
    cudaFree(edge_d); cudaFree(weight_d); cudaFree(signal_d); cudaFree(energy_d); cudaFree(quotient_d);
    cudaFree(norm_d);
    return 0;
}
