#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>

// Rounds to the nearest bfloat16, ties to even, with integers.
__device__ uint16_t toBf16(float x) {
    unsigned bits = __float_as_uint(x);
    return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

__global__ void lionStep(float* w, const float* g, uint16_t* momentum, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float m = __uint_as_float((unsigned)momentum[i] << 16);
    float blend = 0.875f * m + 0.125f * g[i];
    float direction = blend > 0 ? 1.0f : blend < 0 ? -1.0f : 0.0f;
    w[i] = w[i] - (direction + 0.125f * w[i]) / 1024;
    momentum[i] = toBf16((63 * m + g[i]) / 64);
}

bool good(cudaError_t status) {
    if (status != cudaSuccess) std::cerr << cudaGetErrorString(status) << "\n";
    return status == cudaSuccess;
}

template <typename T>
bool readFile(const char* path, std::vector<T>& values) {
    std::ifstream in(path, std::ios::binary);
    in.read((char*)values.data(), values.size() * sizeof(T));
    if (in && in.peek() == EOF) return true;
    std::cerr << path << ": wrong size\n";
    return false;
}

template <typename T>
bool writeFile(const char* path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write((const char*)values.data(), values.size() * sizeof(T));
    out.close();
    return bool(out);
}

int main() {
    std::vector<int> sizes(1);
    if (!readFile("data/sizes.bin", sizes) || sizes[0] < 4 || sizes[0] > 20000000) return 1;
    int count = sizes[0];
    std::vector<float> w(count), g(count);
    std::vector<uint16_t> m(count);
    if (!readFile("data/weights.bin", w) || !readFile("data/grad.bin", g) || !readFile("data/momentum.bin", m)) {
        return 1;
    }
    float *dw, *dg;
    uint16_t* dm;
    size_t bytes = count * sizeof(float);
    if (!good(cudaMalloc(&dw, bytes)) || !good(cudaMalloc(&dg, bytes)) || !good(cudaMalloc(&dm, count * 2))) return 1;
    if (!good(cudaMemcpy(dw, w.data(), bytes, cudaMemcpyHostToDevice))) return 1;
    if (!good(cudaMemcpy(dg, g.data(), bytes, cudaMemcpyHostToDevice))) return 1;
    if (!good(cudaMemcpy(dm, m.data(), count * 2, cudaMemcpyHostToDevice))) return 1;
    lionStep<<<(count + 255) / 256, 256>>>(dw, dg, dm, count);
    if (!good(cudaGetLastError())) return 1;
    if (!good(cudaMemcpy(w.data(), dw, bytes, cudaMemcpyDeviceToHost))) return 1;
    if (!good(cudaMemcpy(m.data(), dm, count * 2, cudaMemcpyDeviceToHost))) return 1;
    return writeFile("data/new_weights.bin", w) && writeFile("data/new_momentum.bin", m) ? 0 : 1;
}
