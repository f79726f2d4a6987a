#include <cuda_runtime.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxRows = 16384;
constexpr int kMaxCols = 8192;
constexpr int kRowThreads = 128;
constexpr int kRowWarps = kRowThreads / 32;
constexpr int kTileCols = 32;
constexpr int kTileRows = 16;

__global__ void inputGradient(const float* __restrict__ x, const float* __restrict__ dy,
                              const float* __restrict__ weight, float* __restrict__ dx, float* __restrict__ rowScale,
                              int cols) {
    __shared__ float2 partial[kRowWarps];
    const size_t start = static_cast<size_t>(blockIdx.x) * cols;

    float2 sum = make_float2(0.0f, 0.0f);
    for (int c = threadIdx.x; c < cols; c += kRowThreads) {
        const float value = x[start + c];
        sum.x += value * value;
        sum.y += value * weight[c] * dy[start + c];
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        sum.x += __shfl_xor_sync(0xffffffffu, sum.x, mask);
        sum.y += __shfl_xor_sync(0xffffffffu, sum.y, mask);
    }
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();

    sum = partial[0];
    for (int w = 1; w < kRowWarps; ++w) {
        sum.x += partial[w].x;
        sum.y += partial[w].y;
    }
    const float q = rsqrtf(sum.x / cols + 1e-6f);
    const float pull = q * q * sum.y / cols;
    for (int c = threadIdx.x; c < cols; c += kRowThreads) {
        dx[start + c] = q * (weight[c] * dy[start + c] - x[start + c] * pull);
    }
    if (threadIdx.x == 0) rowScale[blockIdx.x] = q;
}

__global__ void weightGradient(const float* __restrict__ x, const float* __restrict__ dy,
                               const float* __restrict__ rowScale, float* __restrict__ dweight, int rows, int cols) {
    __shared__ float sums[kTileRows][kTileCols];
    const int col = blockIdx.x * kTileCols + threadIdx.x;

    float sum = 0.0f;
    if (col < cols) {
        for (int r = threadIdx.y; r < rows; r += kTileRows) {
            const size_t i = static_cast<size_t>(r) * cols + col;
            sum += dy[i] * x[i] * rowScale[r];
        }
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && col < cols) {
        for (int y = 1; y < kTileRows; ++y) sum += sums[y][threadIdx.x];
        dweight[col] = sum;
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

struct Buffer {
    float* data = nullptr;
    size_t count;
    explicit Buffer(size_t n) : count(n) { check(cudaMalloc(&data, n * sizeof(float))); }
    Buffer(const Buffer&) = delete;
    ~Buffer() { cudaFree(data); }
};

static void readBytes(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes || !in.seekg(0).read(static_cast<char*>(target), bytes)) {
        throw std::runtime_error(std::string(path) + ": missing or of the wrong length");
    }
}

static void load(const char* path, Buffer& buffer) {
    std::vector<float> host(buffer.count);
    readBytes(path, host.data(), host.size() * sizeof(float));
    check(cudaMemcpy(buffer.data, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
}

static void store(const char* path, const Buffer& buffer) {
    std::vector<float> host(buffer.count);
    check(cudaMemcpy(host.data(), buffer.data, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(host.data()), host.size() * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error(std::string(path) + ": cannot be written");
}

static void run() {
    int sizes[2];
    readBytes("data/sizes.bin", sizes, sizeof(sizes));
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > kMaxRows || cols < 1 || cols > kMaxCols) {
        throw std::runtime_error("data/sizes.bin: rows or cols out of range");
    }
    const size_t count = static_cast<size_t>(rows) * cols;
    Buffer x(count), dy(count), dx(count), weight(cols), dweight(cols), rowScale(rows);
    load("data/x.bin", x);
    load("data/dy.bin", dy);
    load("data/weight.bin", weight);

    inputGradient<<<rows, kRowThreads>>>(x.data, dy.data, weight.data, dx.data, rowScale.data, cols);
    check(cudaGetLastError());
    weightGradient<<<(cols + kTileCols - 1) / kTileCols, dim3(kTileCols, kTileRows)>>>(x.data, dy.data, rowScale.data,
                                                                                      dweight.data, rows, cols);
    check(cudaGetLastError());
    store("data/dx.bin", dx);
    store("data/dweight.bin", dweight);
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
