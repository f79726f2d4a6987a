#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct DeviceArray {
    T* p = nullptr;
    explicit DeviceArray(size_t count) {
        if (cudaMalloc(&p, count * sizeof(T)) != cudaSuccess)
            { fprintf(stderr, "cudaMalloc failed\n"); exit(1); }
    }
    ~DeviceArray() { cudaFree(p); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    void upload(const std::vector<T>& v) { cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice); }
    void download(std::vector<T>& v) const {
        cudaMemcpy(v.data(), p, v.size() * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

static const int ROWS = 40;
static const int COLS = 60;
static const int BLOCK = 256;

// All ordered pairs are counted, which balances the work of the threads; the sum is halved at the end.
__global__ void kendall_shared(const float* __restrict__ x, const float* __restrict__ y, int* balance, float* tau) {
    __shared__ float2 p[COLS];
    __shared__ int part[BLOCK / 32];
    size_t base = (size_t)blockIdx.x * COLS;
    for (int c = threadIdx.x; c < COLS; c += BLOCK) p[c] = make_float2(x[base + c], y[base + c]);
    __syncthreads();
    int sum = 0;
    for (int i = threadIdx.x; i < COLS; i += BLOCK) {
        float2 a = p[i];
        for (int j = 0; j < COLS; ++j) {
            float2 b = p[j];
            sum += ((a.x > b.x) - (a.x < b.x)) * ((a.y > b.y) - (a.y < b.y));
        }
    }
    for (int s = 16; s > 0; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; ++w) sum += part[w];
        balance[blockIdx.x] = sum / 2;
        tau[blockIdx.x] = sum / ((float)COLS * (COLS - 1));
    }
}

int main() {
    const size_t elements = (size_t)ROWS * COLS;
    std::vector<float> x(elements);
    std::vector<float> y(elements);
    std::vector<int> balance(ROWS);
    std::vector<float> tau(ROWS);
    std::ifstream xIn("data/x.bin", std::ios::binary);
    if (!xIn.read(reinterpret_cast<char*>(x.data()), elements * sizeof(float)))
        { fprintf(stderr, "cannot read data/x.bin\n"); exit(1); }
    std::ifstream yIn("data/y.bin", std::ios::binary);
    if (!yIn.read(reinterpret_cast<char*>(y.data()), elements * sizeof(float)))
        { fprintf(stderr, "cannot read data/y.bin\n"); exit(1); }

    DeviceArray<float> gpu_x(elements);
    DeviceArray<float> gpu_y(elements);
    DeviceArray<int> gpu_balance(ROWS);
    DeviceArray<float> gpu_tau(ROWS);
    gpu_x.upload(x);
    gpu_y.upload(y);

    kendall_shared<<<ROWS, BLOCK>>>(gpu_x.p, gpu_y.p, gpu_balance.p, gpu_tau.p);
    if (cudaGetLastError() != cudaSuccess) { fprintf(stderr, "launch failed\n"); exit(1); }
    gpu_balance.download(balance);
    gpu_tau.download(tau);

    std::ofstream("data/balance.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(balance.data()), ROWS * sizeof(int));
    std::ofstream("data/tau.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(tau.data()), ROWS * sizeof(float));
    return 0;
}
