#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

template <typename T>
void read_binary(const std::string& filename, T* data, size_t count) {
    std::ifstream in(filename, std::ios::binary);
    if (!in) {
        std::cerr << "no such file: " << filename << std::endl;
        exit(1);
    }
    in.read(reinterpret_cast<char*>(data), count * sizeof(T));
}

template <typename T>
void write_binary(const std::string& filename, const T* data, size_t count) {
    std::ofstream out(filename, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), count * sizeof(T));
}
//@given

constexpr int SIGNALS = 6;
constexpr int NODES = 1000;
constexpr int EDGES = 4000;
constexpr int THREADS = 256;

__global__ void signal_energy(const int* edge, const float* weight, const float* signal,
                              float* energy, float* quotient) {
    __shared__ float sum_e[THREADS], sum_x[THREADS];
    int t = threadIdx.x;
    const float* x = signal + (size_t)blockIdx.x * NODES;
    float e = 0.0f, q = 0.0f;
    for (int k = t; k < EDGES; k += THREADS) {
        float d = x[edge[2 * k]] - x[edge[2 * k + 1]];
        e += weight[k] * d * d;
    }
    for (int i = t; i < NODES; i += THREADS) q += x[i] * x[i];
    sum_e[t] = e;
    sum_x[t] = q;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (t < s) {
            sum_e[t] += sum_e[t + s];
            sum_x[t] += sum_x[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        energy[blockIdx.x] = sum_e[0];
        quotient[blockIdx.x] = sum_e[0] / sum_x[0];
    }
}

int main() {
    int* h_edge = new int[EDGES * 2];
    float* h_weight = new float[EDGES];
    float* h_signal = new float[SIGNALS * NODES];
    float* h_energy = new float[SIGNALS];
    float* h_quotient = new float[SIGNALS];
    read_binary("data/edge.bin", h_edge, EDGES * 2);
    read_binary("data/weight.bin", h_weight, EDGES);
    read_binary("data/signal.bin", h_signal, SIGNALS * NODES);

    int* d_edge;
    float* d_weight;
    float* d_signal;
    float* d_energy;
    float* d_quotient;
    cudaMalloc(&d_edge, EDGES * 2 * sizeof(int));
    cudaMalloc(&d_weight, EDGES * sizeof(float));
    cudaMalloc(&d_signal, SIGNALS * NODES * sizeof(float));
    cudaMalloc(&d_energy, SIGNALS * sizeof(float));
    cudaMalloc(&d_quotient, SIGNALS * sizeof(float));
    cudaMemcpy(d_edge, h_edge, EDGES * 2 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight, EDGES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_signal, h_signal, SIGNALS * NODES * sizeof(float), cudaMemcpyHostToDevice);

    signal_energy<<<SIGNALS, THREADS>>>(d_edge, d_weight, d_signal, d_energy, d_quotient);
    cudaDeviceSynchronize();
    cudaMemcpy(h_energy, d_energy, SIGNALS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_quotient, d_quotient, SIGNALS * sizeof(float), cudaMemcpyDeviceToHost);

    write_binary("data/energy.bin", h_energy, SIGNALS);
    write_binary("data/quotient.bin", h_quotient, SIGNALS);

    cudaFree(d_edge);
    cudaFree(d_weight);
    cudaFree(d_signal);
    cudaFree(d_energy);
    cudaFree(d_quotient);
    delete[] h_edge;
    delete[] h_weight;
    delete[] h_signal;
    delete[] h_energy;
    delete[] h_quotient;
    return 0;
}
