#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <vector>

__global__ void resample(const float* x, const float* h, float* y, int outputs, int n, int taps, int up, int down) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= outputs) return;
    float sum = 0;
    for (int k = m * down % up; k < taps && k <= m * down; k += up) {
        int i = (m * down - k) / up;
        if (i < n) sum += h[k] * x[i];
    }
    y[m] = sum;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

void read(const char* path, void* data, std::streamsize bytes) {
    std::ifstream in(path, std::ios::binary);
    in.read(static_cast<char*>(data), bytes);
    if (in.gcount() != bytes || in.get() != EOF) throw std::runtime_error(path);
}

int main() {
    try {
        int sizes[4];
        read("data/sizes.bin", sizes, sizeof(sizes));
        const int limits[4] = {1048576, 1024, 64, 64};
        for (int s = 0; s < 4; ++s) {
            if (sizes[s] < 1 || sizes[s] > limits[s]) throw std::runtime_error("data/sizes.bin: out of range");
        }
        int n = sizes[0], taps = sizes[1], up = sizes[2], down = sizes[3];
        int outputs = (n * up - 1) / down + 1;
        std::vector<float> x(n), h(taps), y(outputs);
        read("data/x.bin", x.data(), n * sizeof(float));
        read("data/h.bin", h.data(), taps * sizeof(float));
        float *dx, *dh, *dy;
        check(cudaMalloc(&dx, n * sizeof(float)));
        check(cudaMalloc(&dh, taps * sizeof(float)));
        check(cudaMalloc(&dy, outputs * sizeof(float)));
        check(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
        check(cudaMemcpy(dh, h.data(), taps * sizeof(float), cudaMemcpyHostToDevice));
        resample<<<(outputs + 255) / 256, 256>>>(dx, dh, dy, outputs, n, taps, up, down);
        check(cudaGetLastError());
        check(cudaMemcpy(y.data(), dy, outputs * sizeof(float), cudaMemcpyDeviceToHost));
        check(cudaFree(dx));
        check(cudaFree(dh));
        check(cudaFree(dy));
        std::ofstream out("data/y.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(y.data()), outputs * sizeof(float));
        out.close();
        if (!out) throw std::runtime_error("data/y.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
