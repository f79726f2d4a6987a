#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxRows = 4096, kMaxLength = 262144, kMaxHalf = 64;
constexpr int kThreads = 256;

__constant__ float hilbert[kMaxHalf];

__global__ void detectEnvelope(const float* __restrict__ x, float* __restrict__ envelope, int n, int half) {
    __shared__ float window[kThreads + 2 * (2 * kMaxHalf - 1)];
    const int reach = 2 * half - 1;
    const size_t row = static_cast<size_t>(blockIdx.y) * n;
    const int first = static_cast<int>(blockIdx.x) * kThreads - reach;
    for (int k = threadIdx.x; k < kThreads + 2 * reach; k += kThreads) {
        const int t = first + k;
        window[k] = t >= 0 && t < n ? x[row + t] : 0.0f;
    }
    __syncthreads();
    const int center = threadIdx.x + reach;
    float quadrature = 0.0f;
    for (int j = 0; j < half; ++j) {
        quadrature += hilbert[j] * (window[center - 2 * j - 1] - window[center + 2 * j + 1]);
    }
    const int t = first + center;
    if (t < n) envelope[row + t] = hypotf(window[center], quadrature);
}

class DeviceBuffer {
public:
    explicit DeviceBuffer(size_t bytes) { verify(cudaMalloc(&pointer_, bytes)); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    ~DeviceBuffer() { cudaFree(pointer_); }
    float* floats() const { return static_cast<float*>(pointer_); }
    static void verify(cudaError_t status) {
        if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
    }

private:
    void* pointer_ = nullptr;
};

static void readExactly(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(static_cast<char*>(data), bytes) || in.peek() != EOF) {
        throw std::runtime_error(path + ": expected " + std::to_string(bytes) + " bytes");
    }
}

int main() {
    try {
        int sizes[3];
        readExactly("data/sizes.bin", sizes, sizeof sizes);
        const int rows = sizes[0], n = sizes[1], half = sizes[2];
        if (rows < 1 || rows > kMaxRows || n < 1 || n > kMaxLength || half < 1 || half > kMaxHalf) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        std::vector<float> signal(static_cast<size_t>(rows) * n), taps(half);
        const size_t bytes = signal.size() * sizeof(float);
        readExactly("data/x.bin", signal.data(), bytes);
        readExactly("data/taps.bin", taps.data(), half * sizeof(float));

        DeviceBuffer x(bytes), envelope(bytes);
        DeviceBuffer::verify(cudaMemcpy(x.floats(), signal.data(), bytes, cudaMemcpyHostToDevice));
        DeviceBuffer::verify(cudaMemcpyToSymbol(hilbert, taps.data(), half * sizeof(float)));
        const dim3 grid((n + kThreads - 1) / kThreads, rows);
        detectEnvelope<<<grid, kThreads>>>(x.floats(), envelope.floats(), n, half);
        DeviceBuffer::verify(cudaGetLastError());
        DeviceBuffer::verify(cudaMemcpy(signal.data(), envelope.floats(), bytes, cudaMemcpyDeviceToHost));

        std::ofstream out("data/envelope.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(signal.data()), bytes);
        out.close();
        if (!out) throw std::runtime_error("data/envelope.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
