#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

#define N 12000

__global__ void hash_keys(const unsigned int* key, const unsigned int* buckets, unsigned int* hash, int* bucket,
                          int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned int h = key[i] + 0x9e3779b9u;
        h = (h ^ (h >> 15)) * 0x2c1b3c6du;
        h = (h ^ (h >> 12)) * 0x297a2d39u;
        h ^= h >> 15;
        hash[i] = h;
        bucket[i] = (int)(((unsigned long long)h * buckets[0]) >> 32);
    }
}

int main() {
    std::vector<unsigned int> h_key(N);
    std::vector<unsigned int> h_buckets(1);
    std::vector<unsigned int> h_hash(N);
    std::vector<int> h_bucket(N);
    std::ifstream fin_key("data/key.bin", std::ios::binary);
    fin_key.read((char*)h_key.data(), N * sizeof(unsigned int));
    if (!fin_key) {
        std::cerr << "failed to read data/key.bin" << std::endl;
        return 1;
    }
    std::ifstream in_buckets("data/buckets.bin", std::ios::binary);
    in_buckets.read((char*)h_buckets.data(), sizeof(unsigned int));
    if (!in_buckets) {
        std::cerr << "missing or incomplete file data/buckets.bin" << std::endl;
        return 1;
    }

    unsigned int* d_key;
    unsigned int* d_buckets;
    unsigned int* d_hash;
    int* d_bucket;
    cudaMalloc(&d_key, N * sizeof(unsigned int));
    cudaMalloc(&d_buckets, sizeof(unsigned int));
    cudaMalloc(&d_hash, N * sizeof(unsigned int));
    cudaMalloc(&d_bucket, N * sizeof(int));
    cudaMemcpy(d_key, h_key.data(), N * sizeof(unsigned int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_buckets, h_buckets.data(), sizeof(unsigned int), cudaMemcpyHostToDevice);
    int threads = 256;
    int blocks = (N + threads - 1) / threads;
    hash_keys<<<blocks, threads>>>(d_key, d_buckets, d_hash, d_bucket, N);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "GPU: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_hash.data(), d_hash, N * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_bucket.data(), d_bucket, N * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream fout_hash("data/hash.bin", std::ios::binary);
    fout_hash.write((char*)h_hash.data(), N * sizeof(unsigned int));
    std::ofstream out_bucket("data/bucket.bin", std::ios::binary);
    out_bucket.write((char*)h_bucket.data(), N * sizeof(int));

    cudaFree(d_key);
    cudaFree(d_buckets);
    cudaFree(d_hash);
    cudaFree(d_bucket);
    return 0;
}
