#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kTile = 16;
constexpr float kOffDiagonal = 1.0f / 128;

// Sum over threadIdx.y of a block of 32 x 8 threads, for every thread of the column.
__device__ float columnSum(float value) {
    __shared__ float partial[8][32];
    __syncthreads();
    partial[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int y = 0; y < 8; ++y) sum += partial[y][threadIdx.x];
    return sum;
}

__global__ void measureColumns(const float* __restrict__ views, float2* __restrict__ stats, int samples, int width) {
    const int j = blockIdx.x * 32 + threadIdx.x;
    const float* view = views + blockIdx.y * static_cast<size_t>(samples) * width;
    const int rows = j < width ? samples : 0;
    float sum = 0.0f;
    for (int n = threadIdx.y; n < rows; n += 8) sum += view[static_cast<size_t>(n) * width + j];
    const float mean = columnSum(sum) / samples;
    sum = 0.0f;
    for (int n = threadIdx.y; n < rows; n += 8) {
        const float d = view[static_cast<size_t>(n) * width + j] - mean;
        sum = fmaf(d, d, sum);
    }
    const float variance = columnSum(sum) / samples;
    if (threadIdx.y == 0 && j < width) stats[blockIdx.y * width + j] = make_float2(mean, rsqrtf(variance + 1e-5f));
}

__global__ void standardize(float* views, const float2* __restrict__ stats, int samples, int width) {
    const size_t cells = static_cast<size_t>(samples) * width;
    const size_t at = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= cells) return;
    const float2 s = stats[blockIdx.y * width + at % width];
    float& x = views[blockIdx.y * cells + at];
    x = (x - s.x) * s.y;
}

__global__ void correlate(const float* __restrict__ views, float* __restrict__ correlation, double* loss, int samples,
                          int width) {
    __shared__ float left[kTile][kTile], right[kTile][kTile];
    __shared__ double tree[kTile * kTile];
    const float* first = views;
    const float* second = views + static_cast<size_t>(samples) * width;
    const int x = threadIdx.x, y = threadIdx.y;
    const int i = blockIdx.y * kTile + y, j = blockIdx.x * kTile + x;
    const int loadColumn = blockIdx.y * kTile + x;  // of `first`
    float dot = 0.0f;
    for (int base = 0; base < samples; base += kTile) {
        const size_t row = static_cast<size_t>(base + y) * width;
        const bool inside = base + y < samples;
        left[y][x] = inside && loadColumn < width ? first[row + loadColumn] : 0.0f;
        right[y][x] = inside && j < width ? second[row + j] : 0.0f;
        __syncthreads();
        for (int k = 0; k < kTile; ++k) dot = fmaf(left[k][y], right[k][x], dot);
        __syncthreads();
    }
    const float c = dot / samples;
    double part = 0.0;
    if (i < width && j < width) {
        correlation[static_cast<size_t>(i) * width + j] = c;
        part = i == j ? (1.0f - c) * (1.0f - c) : kOffDiagonal * c * c;
    }
    const int t = y * kTile + x;
    tree[t] = part;
    __syncthreads();
    for (int half = kTile * kTile / 2; half > 0; half /= 2) {
        if (t < half) tree[t] += tree[t + half];
        __syncthreads();
    }
    if (t == 0) atomicAdd(loss, tree[0]);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static void readInto(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(static_cast<char*>(data), bytes) || in.peek() != EOF) throw std::runtime_error(path + ": size");
}

static void writeFloats(const std::string& path, const std::vector<float>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        int32_t sizes[2];
        readInto("data/sizes.bin", sizes, sizeof sizes);
        const int samples = sizes[0], width = sizes[1];
        if (samples < 2 || samples > 65536 || width < 1 || width > 1024) throw std::runtime_error("bad sizes");
        const size_t cells = static_cast<size_t>(samples) * width;
        std::vector<float> host(2 * cells);
        readInto("data/first.bin", host.data(), cells * sizeof(float));
        readInto("data/second.bin", host.data() + cells, cells * sizeof(float));

        float *views = nullptr, *correlation = nullptr;
        float2* stats = nullptr;
        double *dLoss = nullptr, loss = 0.0;
        check(cudaMalloc(&views, host.size() * sizeof(float)));
        check(cudaMalloc(&correlation, static_cast<size_t>(width) * width * sizeof(float)));
        check(cudaMalloc(&stats, 2 * width * sizeof(float2)));
        check(cudaMalloc(&dLoss, sizeof(double)));
        check(cudaMemcpy(views, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
        check(cudaMemset(dLoss, 0, sizeof(double)));
        measureColumns<<<dim3((width + 31) / 32, 2), dim3(32, 8)>>>(views, stats, samples, width);
        check(cudaGetLastError());
        standardize<<<dim3(static_cast<unsigned>((cells + 255) / 256), 2), 256>>>(views, stats, samples, width);
        check(cudaGetLastError());
        const int tiles = (width + kTile - 1) / kTile;
        correlate<<<dim3(tiles, tiles), dim3(kTile, kTile)>>>(views, correlation, dLoss, samples, width);
        check(cudaGetLastError());
        host.resize(static_cast<size_t>(width) * width);
        check(cudaMemcpy(host.data(), correlation, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
        check(cudaMemcpy(&loss, dLoss, sizeof(double), cudaMemcpyDeviceToHost));
        check(cudaFree(views));
        check(cudaFree(correlation));
        check(cudaFree(stats));
        check(cudaFree(dLoss));
        writeFloats("data/correlation.bin", host);
        writeFloats("data/loss.bin", {static_cast<float>(loss)});
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
