#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

struct DeviceBuffer {
    float* p = nullptr;
    size_t count;
    explicit DeviceBuffer(size_t n) : count(n) {
        if (cudaMalloc(&p, n * sizeof(float)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~DeviceBuffer() { cudaFree(p); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    void upload(const std::vector<float>& v) {
        cudaMemcpy(p, v.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    }
    void download(std::vector<float>& v) const {
        cudaMemcpy(v.data(), p, count * sizeof(float), cudaMemcpyDeviceToHost);
    }
};

std::vector<float> load(const std::string& path, size_t count) {
    std::vector<float> v(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(v.data()), count * sizeof(float));
    if (!file) throw std::runtime_error("cannot read " + path);
    return v;
}

constexpr int kCount = 2000;
constexpr int kBlock = 128;

__device__ float3 cross3(float3 u, float3 v) {
    return make_float3(u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x);
}

// Only cross products: first with the columns of the matrix, then with the rows of what came out.
__global__ void congruence_cross(const float* __restrict__ w, const float* __restrict__ m,
        float* __restrict__ result) {
    __shared__ float s[kBlock * 9];
    const int first = blockIdx.x * kBlock;
    const int here = min(kBlock, kCount - first);
    for (int e = threadIdx.x; e < 9 * here; e += kBlock) s[e] = m[9 * first + e];
    __syncthreads();
    if (threadIdx.x < here) {
        const float* p = w + 3 * (first + threadIdx.x);
        const float3 v = make_float3(p[0], p[1], p[2]);
        float* q = s + 9 * threadIdx.x;
        const float3 c0 = cross3(v, make_float3(q[0], q[3], q[6]));
        const float3 c1 = cross3(v, make_float3(q[1], q[4], q[7]));
        const float3 c2 = cross3(v, make_float3(q[2], q[5], q[8]));
        const float3 r0 = cross3(v, make_float3(c0.x, c1.x, c2.x));
        const float3 r1 = cross3(v, make_float3(c0.y, c1.y, c2.y));
        const float3 r2 = cross3(v, make_float3(c0.z, c1.z, c2.z));
        q[0] = r0.x; q[1] = r0.y; q[2] = r0.z;
        q[3] = r1.x; q[4] = r1.y; q[5] = r1.z;
        q[6] = r2.x; q[7] = r2.y; q[8] = r2.z;
    }
    __syncthreads();
    for (int e = threadIdx.x; e < 9 * here; e += kBlock) result[9 * first + e] = s[e];
}

int main() {
    const size_t w_elems = (size_t)kCount * 3;
    const size_t m_elems = (size_t)kCount * 3 * 3;
    std::vector<float> host_w = load("data/w.bin", w_elems);
    std::vector<float> host_m = load("data/m.bin", m_elems);
    std::vector<float> host_result(m_elems);

    DeviceBuffer d_w(w_elems), d_m(m_elems), d_result(m_elems);
    d_w.upload(host_w);
    d_m.upload(host_m);

    const int blocks = (kCount + kBlock - 1) / kBlock;
    congruence_cross<<<blocks, kBlock>>>(d_w.p, d_m.p, d_result.p);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("CUDA error");

    d_result.download(host_result);
    std::ofstream("data/result.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(host_result.data()), m_elems * sizeof(float));
    return 0;
}
