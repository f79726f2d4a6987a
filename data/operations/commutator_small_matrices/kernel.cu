#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_bin(const std::string& path, void* ptr, size_t bytes) {
    std::ifstream stream(path, std::ios::binary);
    stream.read(static_cast<char*>(ptr), bytes);
    if (!stream) {
        std::cerr << "Failed to read " << path << std::endl;
        exit(1);
    }
}

void write_bin(const std::string& path, const void* ptr, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(ptr), bytes);
}
//@given

const int COUNT = 100;
const int N = 8;
const int SIZE = N * N;
const int PAIRS = 4;
#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

// Four pairs per block, all staged in shared memory.
__global__ void commutator_shared(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
    __shared__ float as[PAIRS * SIZE];
    __shared__ float bs[PAIRS * SIZE];
    const int first = blockIdx.x * PAIRS * SIZE;
    const int here = min(PAIRS * SIZE, COUNT * SIZE - first);
    for (int e = threadIdx.x; e < here; e += blockDim.x) {
        as[e] = a[first + e];
        bs[e] = b[first + e];
    }
    __syncthreads();
    for (int e = threadIdx.x; e < here; e += blockDim.x) {
        const int start = e / SIZE * SIZE;
        const int i = (e - start) / N, j = (e - start) % N;
        float forward = 0.0f, backward = 0.0f;
        for (int k = 0; k < N; ++k) {
            forward = fmaf(as[start + i * N + k], bs[start + k * N + j], forward);
            backward = fmaf(bs[start + i * N + k], as[start + k * N + j], backward);
        }
        c[first + e] = forward - backward;
    }
}

int main() {
    const size_t a_count = (size_t)COUNT * N * N;
    float* a = new float[a_count];
    float* b = new float[a_count];
    float* c = new float[a_count];
    read_bin("data/a.bin", a, a_count * sizeof(float));
    read_bin("data/b.bin", b, a_count * sizeof(float));

    float *dev_a, *dev_b, *dev_c;
    cudaMalloc(&dev_a, a_count * sizeof(float));
    cudaMalloc(&dev_b, a_count * sizeof(float));
    cudaMalloc(&dev_c, a_count * sizeof(float));
    cudaMemcpy(dev_a, a, a_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_b, b, a_count * sizeof(float), cudaMemcpyHostToDevice);

    commutator_shared<<<DIV_UP(COUNT, PAIRS), 128>>>(dev_a, dev_b, dev_c);
    cudaDeviceSynchronize();

    cudaMemcpy(c, dev_c, a_count * sizeof(float), cudaMemcpyDeviceToHost);
    write_bin("data/c.bin", c, a_count * sizeof(float));

    cudaFree(dev_a);
    cudaFree(dev_b);
    cudaFree(dev_c);
    delete[] a;
    delete[] b;
    delete[] c;
    return 0;
}
