#include <cfloat>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int HEADS = 4;
constexpr int LENGTH = 200;

template <typename T>
struct DeviceBuffer {
    T* p = nullptr;
    size_t count;
    explicit DeviceBuffer(size_t n) : count(n) {
        if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~DeviceBuffer() { cudaFree(p); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    T* get() const { return p; }
    void upload(const std::vector<T>& v) { cudaMemcpy(p, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
    void download(std::vector<T>& v) const { cudaMemcpy(v.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost); }
};

template <typename T>
std::vector<T> readVector(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T)))
        throw std::runtime_error(std::string("cannot read ") + path);
    return v;
}

constexpr int kBlock = 64;
constexpr int kSpan = kBlock + 16;

// Keys and values around 64 queries are staged in shared memory (rows padded to 17 words).
__global__ void attend_tile(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                            float* __restrict__ out) {
    __shared__ float ks[kSpan][17], vs[kSpan][17];
    const int base = max((int)blockIdx.x * kBlock - 8, 0);
    const size_t head = (size_t)blockIdx.y * LENGTH;
    for (int t = threadIdx.x; t < kSpan * 16; t += kBlock) {
        if (base + t / 16 < LENGTH) {
            ks[t / 16][t % 16] = k[(head + base) * 16 + t];
            vs[t / 16][t % 16] = v[(head + base) * 16 + t];
        }
    }
    __syncthreads();
    const int i = blockIdx.x * kBlock + threadIdx.x;
    if (i >= LENGTH) return;
    float qi[16], acc[16];
    for (int d = 0; d < 16; ++d) {
        qi[d] = 0.25f * q[(head + i) * 16 + d];
        acc[d] = 0.0f;
    }
    const int s = min(max(i - 4, 0), LENGTH - 9) - base;
    float top = -FLT_MAX, sum = 0.0f;
    for (int j = s; j < s + 9; ++j) {
        float e = 0.0f;
        for (int d = 0; d < 16; ++d) e = fmaf(qi[d], ks[j][d], e);
        const float next = fmaxf(top, e);
        const float shrink = expf(top - next), w = expf(e - next);
        sum = sum * shrink + w;
        for (int d = 0; d < 16; ++d) acc[d] = acc[d] * shrink + w * vs[j][d];
        top = next;
    }
    for (int d = 0; d < 16; ++d) out[(head + i) * 16 + d] = acc[d] / sum;
}

int main() {
    const size_t n_total = HEADS * LENGTH * 16;
    std::vector<float> host_q = readVector<float>("data/q.bin", n_total);
    std::vector<float> host_k = readVector<float>("data/k.bin", n_total);
    std::vector<float> host_v = readVector<float>("data/v.bin", n_total);
    std::vector<float> host_out(n_total);

    DeviceBuffer<float> q_dev(n_total);
    DeviceBuffer<float> k_dev(n_total);
    DeviceBuffer<float> v_dev(n_total);
    DeviceBuffer<float> out_dev(n_total);
    q_dev.upload(host_q);
    k_dev.upload(host_k);
    v_dev.upload(host_v);

    dim3 grid((LENGTH + kBlock - 1) / kBlock, HEADS);
    attend_tile<<<grid, kBlock>>>(q_dev.get(), k_dev.get(), v_dev.get(), out_dev.get());
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    out_dev.download(host_out);
    std::ofstream("data/out.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(host_out.data()), n_total * sizeof(float));
    return 0;
}
