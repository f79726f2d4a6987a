#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary);
    std::vector<T> data(count);
    if (!in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
    return data;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kN = 12000;

__device__ __forceinline__ unsigned int mix(unsigned int h) {
    h += 0x9e3779b9u;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12)) * 0x297a2d39u;
    return h ^ (h >> 15);
}

__global__ void hash_keys4(const uint4* __restrict__ key, const unsigned int* __restrict__ buckets,
                           uint4* __restrict__ hash, int4* __restrict__ bucket, int quads) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    const unsigned int m = buckets[0];
    const uint4 k = key[i];
    const uint4 h = make_uint4(mix(k.x), mix(k.y), mix(k.z), mix(k.w));
    hash[i] = h;
    bucket[i] = make_int4(__umulhi(h.x, m), __umulhi(h.y, m), __umulhi(h.z, m), __umulhi(h.w, m));
}

int main() {
    auto h_key = from_file<unsigned int>("data/key.bin", kN);
    const auto h_buckets = from_file<unsigned int>("data/buckets.bin", 1);
    std::vector<unsigned int> h_hash(kN);
    std::vector<int> h_bucket(kN);

    unsigned int *d_key, *d_buckets, *d_hash;
    int* d_bucket;
    cudaMalloc(&d_key, kN * sizeof(unsigned int));
    cudaMalloc(&d_buckets, sizeof(unsigned int));
    cudaMalloc(&d_hash, kN * sizeof(unsigned int));
    cudaMalloc(&d_bucket, kN * sizeof(int));
    cudaMemcpy(d_key, h_key.data(), kN * sizeof(unsigned int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_buckets, h_buckets.data(), sizeof(unsigned int), cudaMemcpyHostToDevice);

    // n is a multiple of four
    const int quads = kN / 4;
    hash_keys4<<<(quads + 128 - 1) / 128, 128>>>((const uint4*)d_key, d_buckets, (uint4*)d_hash,
            (int4*)d_bucket, quads);
    if (auto error = cudaDeviceSynchronize(); error != cudaSuccess) {
        std::cerr << cudaGetErrorString(error) << "\n";
        return 1;
    }

    cudaMemcpy(h_hash.data(), d_hash, kN * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_bucket.data(), d_bucket, kN * sizeof(int), cudaMemcpyDeviceToHost);
    to_file("data/hash.bin", h_hash);
    to_file("data/bucket.bin", h_bucket);

    cudaFree(d_bucket);
    cudaFree(d_hash);
    cudaFree(d_buckets);
    cudaFree(d_key);
    return 0;
}
