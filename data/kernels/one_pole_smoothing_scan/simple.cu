#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <vector>

__global__ void smooth(const float* x, const float* decay, float* y, int rows, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float d = decay[r], value = 0;
    for (size_t t = 0; t < n; ++t) {
        value = d * value + (1 - d) * x[size_t(r) * n + t];
        y[size_t(r) * n + t] = value;
    }
}

template <typename T>
bool load(const char* path, std::vector<T>& values) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    std::streamoff bytes = values.size() * sizeof(T);
    if (!in || in.tellg() != bytes) {
        std::cerr << path << ": expected " << bytes << " bytes\n";
        return false;
    }
    return bool(in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes));
}

bool ok(cudaError_t status) {
    if (status != cudaSuccess) std::cerr << cudaGetErrorString(status) << "\n";
    return status == cudaSuccess;
}

int main() {
    std::vector<int> sizes(2);
    if (!load("data/sizes.bin", sizes)) return 1;
    int rows = sizes[0], n = sizes[1];
    if (rows < 1 || rows > 65535 || n < 1 || n > 1048576) {
        std::cerr << "data/sizes.bin: out of range\n";
        return 1;
    }
    std::vector<float> x(size_t(rows) * n), decay(rows);
    if (!load("data/x.bin", x) || !load("data/decay.bin", decay)) return 1;
    size_t bytes = x.size() * sizeof(float);
    float *dx, *dd, *dy;
    if (!ok(cudaMalloc(&dx, bytes)) || !ok(cudaMalloc(&dy, bytes)) || !ok(cudaMalloc(&dd, rows * sizeof(float)))) {
        return 1;
    }
    if (!ok(cudaMemcpy(dx, x.data(), bytes, cudaMemcpyHostToDevice))) return 1;
    if (!ok(cudaMemcpy(dd, decay.data(), rows * sizeof(float), cudaMemcpyHostToDevice))) return 1;
    smooth<<<(rows + 31) / 32, 32>>>(dx, dd, dy, rows, n);
    if (!ok(cudaGetLastError()) || !ok(cudaMemcpy(x.data(), dy, bytes, cudaMemcpyDeviceToHost))) return 1;
    cudaFree(dx);
    cudaFree(dd);
    cudaFree(dy);
    std::ofstream out("data/y.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(x.data()), bytes);
    out.close();
    return out ? 0 : 1;
}
