#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

static const int N = 3000;
static const int ROUTES = 40;
static const int BLOCK = 256;

// The table is in shared memory. __clz of the difference is the number of common leading bits (32 if equal).
__global__ void find_route_shared(const unsigned int* __restrict__ addresses,
                                  const unsigned int* __restrict__ prefixes,
                                  const int* __restrict__ prefix_len, int* __restrict__ route,
                                  int* __restrict__ matches) {
    __shared__ unsigned int net[ROUTES];
    __shared__ int len[ROUTES];
    for (int j = threadIdx.x; j < ROUTES; j += BLOCK) {
        net[j] = prefixes[j];
        len[j] = prefix_len[j];
    }
    __syncthreads();
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= N) return;
    const unsigned int address = addresses[i];
    int key = -1, count = 0;
    for (int j = ROUTES - 1; j >= 0; --j) {
        if (__clz((int)(address ^ net[j])) >= len[j]) {
            ++count;
            // Length and reversed index in one number, so that a single maximum decides.
            key = max(key, len[j] * ROUTES + (ROUTES - 1 - j));
        }
    }
    route[i] = key < 0 ? -1 : ROUTES - 1 - key % ROUTES;
    matches[i] = count;
}

void compute_on_gpu(const unsigned int* d_addresses,
                    const unsigned int* d_prefixes,
                    const int* d_prefix_len,
                    int* d_route,
                    int* d_matches) {
    find_route_shared<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>(d_addresses, d_prefixes, d_prefix_len, d_route, d_matches);
}

int main() {
    std::vector<unsigned int> addresses(N);
    std::vector<unsigned int> prefixes(ROUTES);
    std::vector<int> prefix_len(ROUTES);
    std::vector<int> route(N);
    std::vector<int> matches(N);
    if (!std::ifstream("data/addresses.bin", std::ios::binary)
             .read((char*)addresses.data(), N * sizeof(unsigned int))) {
        std::cerr << "data/addresses.bin is missing or short\n";
        return 1;
    }
    if (!std::ifstream("data/prefixes.bin", std::ios::binary)
             .read((char*)prefixes.data(), ROUTES * sizeof(unsigned int))) {
        std::cerr << "data/prefixes.bin is missing or short\n";
        return 1;
    }
    if (!std::ifstream("data/prefix_len.bin", std::ios::binary)
             .read((char*)prefix_len.data(), ROUTES * sizeof(int))) {
        std::cerr << "data/prefix_len.bin is missing or short\n";
        return 1;
    }

    unsigned int *d_addresses, *d_prefixes;
    int *d_prefix_len, *d_route, *d_matches;
    cudaMalloc(&d_addresses, N * sizeof(unsigned int));
    cudaMalloc(&d_prefixes, ROUTES * sizeof(unsigned int));
    cudaMalloc(&d_prefix_len, ROUTES * sizeof(int));
    cudaMalloc(&d_route, N * sizeof(int));
    cudaMalloc(&d_matches, N * sizeof(int));
    cudaMemcpy(d_addresses, addresses.data(), N * sizeof(unsigned int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_prefixes, prefixes.data(), ROUTES * sizeof(unsigned int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_prefix_len, prefix_len.data(), ROUTES * sizeof(int), cudaMemcpyHostToDevice);
    compute_on_gpu(d_addresses, d_prefixes, d_prefix_len, d_route, d_matches);
    cudaMemcpy(route.data(), d_route, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(matches.data(), d_matches, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    std::ofstream("data/route.bin", std::ios::binary)
        .write((const char*)route.data(), N * sizeof(int));
    std::ofstream("data/matches.bin", std::ios::binary)
        .write((const char*)matches.data(), N * sizeof(int));
    cudaFree(d_addresses);
    cudaFree(d_prefixes);
    cudaFree(d_prefix_len);
    cudaFree(d_route);
    cudaFree(d_matches);
    return 0;
}
