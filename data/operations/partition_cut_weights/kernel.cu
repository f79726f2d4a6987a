#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int PARTITIONS = 7;
const int NODES = 600;
const int EDGES = 4000;
const int THREADS = 256;
const int PER_BLOCK = 16 * THREADS;

// Each block sums 16 edges a thread for one partition and adds a single number to the result.
__global__ void cut_chunk(const int2* __restrict__ edge, const int* __restrict__ weight,
                          const unsigned char* __restrict__ side, int* cut) {
    __shared__ int warp_sum[THREADS / 32];
    const unsigned char* s = side + (size_t)blockIdx.y * NODES;
    int begin = blockIdx.x * PER_BLOCK;
    int end = min(begin + PER_BLOCK, EDGES);
    int sum = 0;
    for (int e = begin + threadIdx.x; e < end; e += THREADS) {
        int2 ends = edge[e];
        if (s[ends.x] != s[ends.y]) sum += weight[e];
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) warp_sum[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < THREADS / 32; ++w) sum += warp_sum[w];
        atomicAdd(&cut[blockIdx.y], sum);
    }
}

void solve(const int* d_edge, const int* d_weight, const unsigned char* d_side, int* d_cut) {
    cudaMemset(d_cut, 0, PARTITIONS * sizeof(int));
    dim3 grid((EDGES + PER_BLOCK - 1) / PER_BLOCK, PARTITIONS);
    cut_chunk<<<grid, THREADS>>>((const int2*)d_edge, d_weight, d_side, d_cut);
}

int main() {
    std::vector<int> h_edge(EDGES * 2);
    std::vector<int> h_weight(EDGES);
    std::vector<unsigned char> h_side(PARTITIONS * NODES);
    std::vector<int> h_cut(PARTITIONS);
    std::ifstream fin1("data/edge.bin", std::ios::binary);
    fin1.read(reinterpret_cast<char*>(h_edge.data()), EDGES * 2 * sizeof(int));
    std::ifstream fin2("data/weight.bin", std::ios::binary);
    fin2.read(reinterpret_cast<char*>(h_weight.data()), EDGES * sizeof(int));
    std::ifstream fin3("data/side.bin", std::ios::binary);
    fin3.read(reinterpret_cast<char*>(h_side.data()), PARTITIONS * NODES * sizeof(unsigned char));
    if (!fin1 || !fin2 || !fin3) {
        std::cerr << "could not read all inputs" << std::endl;
        return 1;
    }

    int *d_edge, *d_weight, *d_cut;
    unsigned char *d_side;
    cudaMalloc(&d_edge, EDGES * 2 * sizeof(int));
    cudaMalloc(&d_weight, EDGES * sizeof(int));
    cudaMalloc(&d_side, PARTITIONS * NODES * sizeof(unsigned char));
    cudaMalloc(&d_cut, PARTITIONS * sizeof(int));
    cudaMemcpy(d_edge, h_edge.data(), EDGES * 2 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight.data(), EDGES * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_side, h_side.data(), PARTITIONS * NODES * sizeof(unsigned char), cudaMemcpyHostToDevice);
    solve(d_edge, d_weight, d_side, d_cut);
    cudaMemcpy(h_cut.data(), d_cut, PARTITIONS * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream fout("data/cut.bin", std::ios::binary);
    fout.write(reinterpret_cast<char*>(h_cut.data()), PARTITIONS * sizeof(int));

    cudaFree(d_edge);
    cudaFree(d_weight);
    cudaFree(d_side);
    cudaFree(d_cut);
}
