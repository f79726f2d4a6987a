#include <fstream>
#include <iostream>
#include <cstdint>
#include <cuda_runtime.h>

#define N 15001

// Five steps with doubling shifts XOR together all higher bits.
__device__ uint32_t prefix_xor(uint32_t g) {
    g ^= g >> 1;
    g ^= g >> 2;
    g ^= g >> 4;
    g ^= g >> 8;
    return g ^ (g >> 16);
}

__global__ void gray_two(const uint32_t* __restrict__ number, const uint32_t* __restrict__ gray,
                         uint32_t* __restrict__ encoded, uint32_t* __restrict__ decoded, int n) {
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < n) {
        const uint2 v = *reinterpret_cast<const uint2*>(number + i);
        const uint2 g = *reinterpret_cast<const uint2*>(gray + i);
        *reinterpret_cast<uint2*>(encoded + i) = make_uint2(v.x ^ (v.x >> 1), v.y ^ (v.y >> 1));
        *reinterpret_cast<uint2*>(decoded + i) = make_uint2(prefix_xor(g.x), prefix_xor(g.y));
    } else if (i < n) {
        encoded[i] = number[i] ^ (number[i] >> 1);
        decoded[i] = prefix_xor(gray[i]);
    }
}

int main(void) {
    size_t bytes = N * sizeof(uint32_t);
    uint32_t *number = nullptr, *gray = nullptr, *encoded = nullptr, *decoded = nullptr;
    cudaMallocManaged(&number, bytes);
    cudaMallocManaged(&gray, bytes);
    cudaMallocManaged(&encoded, bytes);
    cudaMallocManaged(&decoded, bytes);

    std::ifstream number_in("data/number.bin", std::ios::binary);
    if (!number_in.read(reinterpret_cast<char*>(number), bytes)) {
        std::cerr << "cannot read data/number.bin\n";
        return 1;
    }
    std::ifstream gray_in("data/gray.bin", std::ios::binary);
    if (!gray_in.read(reinterpret_cast<char*>(gray), bytes)) {
        std::cerr << "cannot read data/gray.bin\n";
        return 1;
    }

    const int pairs = (N + 2 - 1) / 2;
    gray_two<<<(pairs + 256 - 1) / 256, 256>>>(number, gray, encoded, decoded, N);
    cudaDeviceSynchronize();

    std::ofstream encoded_out("data/encoded.bin", std::ios::binary);
    encoded_out.write(reinterpret_cast<const char*>(encoded), bytes);
    std::ofstream decoded_out("data/decoded.bin", std::ios::binary);
    decoded_out.write(reinterpret_cast<const char*>(decoded), bytes);

    cudaFree(decoded);
    cudaFree(encoded);
    cudaFree(gray);
    cudaFree(number);
    return 0;
}
