#include <cuda_runtime.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

// A thread goes through a row in double precision, which leaves enough digits of exp(l) - 1 - l.
__global__ void divergences(const float* meanQ, const float* logVarQ, const float* meanP, const float* logVarP,
                            float* divergence, float* meanGrad, float* logVarGrad, int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double sum = 0;
    for (int c = 0; c < width; ++c) {
        size_t at = (size_t)r * width + c;
        double d = (double)meanQ[at] - meanP[at], l = (double)logVarQ[at] - logVarP[at];
        double inverse = exp(-(double)logVarP[at]);
        meanGrad[at] = d * inverse;
        logVarGrad[at] = expm1(l) / 2;
        sum += (d * d * inverse + expm1(l) - l) / 2;
    }
    divergence[r] = sum;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)values.data(), count * sizeof(T)) || in.peek() != EOF) throw std::runtime_error(path);
    return values;
}

float* load(const std::string& path, size_t count) {
    auto values = readFile<float>(path, count);
    float* device;
    check(cudaMalloc(&device, count * sizeof(float)));
    check(cudaMemcpy(device, values.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

void save(const std::string& path, const float* device, size_t count) {
    std::vector<float> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write((char*)values.data(), count * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error(path);
}

int main() {
    try {
        auto sizes = readFile<int>("data/sizes.bin", 2);
        int rows = sizes[0], width = 4 * sizes[1];
        if (rows < 1 || rows > 1000000 || width < 4 || width > 1024) throw std::runtime_error("sizes");
        size_t cells = (size_t)rows * width;
        float *meanQ = load("data/mean_q.bin", cells), *logVarQ = load("data/log_var_q.bin", cells);
        float *meanP = load("data/mean_p.bin", cells), *logVarP = load("data/log_var_p.bin", cells);
        float *divergence, *meanGrad, *logVarGrad;
        check(cudaMalloc(&divergence, rows * sizeof(float)));
        check(cudaMalloc(&meanGrad, cells * sizeof(float)));
        check(cudaMalloc(&logVarGrad, cells * sizeof(float)));
        divergences<<<(rows + 127) / 128, 128>>>(meanQ, logVarQ, meanP, logVarP, divergence, meanGrad, logVarGrad,
                                                 rows, width);
        check(cudaGetLastError());
        save("data/divergence.bin", divergence, rows);
        save("data/mean_grad.bin", meanGrad, cells);
        save("data/log_var_grad.bin", logVarGrad, cells);
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
    return 0;
}
