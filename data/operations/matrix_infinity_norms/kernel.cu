#include <fstream>
#include <stdexcept>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct DeviceBuffer {
    T* p = nullptr;
    explicit DeviceBuffer(size_t count) {
        if (cudaMalloc(&p, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceBuffer() { cudaFree(p); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    void upload(const std::vector<T>& v) { cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice); }
    void download(std::vector<T>& v) const {
        cudaMemcpy(v.data(), p, v.size() * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

static const int BATCH = 12;
static const int N = 60;
static const int BLOCK = 256;

// Warps take the rows of the matrix in turn, so that neighbouring lanes read neighbouring elements.
__global__ void infinity_norm_warps(const float* __restrict__ a, float* __restrict__ norms) {
    __shared__ float best[BLOCK / 32];
    const float* m = a + (size_t)blockIdx.x * N * N;
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x >> 5;
    float top = 0.0f;
    for (int i = warp; i < N; i += BLOCK / 32) {
        float sum = 0.0f;
        for (int j = lane; j < N; j += 32) sum += fabsf(m[i * N + j]);
        for (int s = 16; s > 0; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
        top = fmaxf(top, sum);
    }
    if (lane == 0) best[warp] = top;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < BLOCK / 32; ++k) top = fmaxf(top, best[k]);
        norms[blockIdx.x] = top;
    }
}

int main() {
    const size_t count = (size_t)BATCH * N * N;
    std::vector<float> host_a(count);
    std::vector<float> host_norms(BATCH);
    std::ifstream in("data/a.bin", std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(host_a.data()), count * sizeof(float)))
        throw std::runtime_error("cannot read data/a.bin");

    DeviceBuffer<float> dev_a(count);
    DeviceBuffer<float> dev_norms(BATCH);
    dev_a.upload(host_a);

    infinity_norm_warps<<<BATCH, BLOCK>>>(dev_a.p, dev_norms.p);
    if (cudaGetLastError() != cudaSuccess) throw std::runtime_error("launch failed");
    dev_norms.download(host_norms);

    std::ofstream("data/norms.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(host_norms.data()), BATCH * sizeof(float));
    return 0;
}
