#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

struct DeviceArray {
    float* p = nullptr;
    size_t count;
    explicit DeviceArray(size_t n) : count(n) {
        if (cudaMalloc(&p, n * sizeof(float)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~DeviceArray() { cudaFree(p); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    void upload(const std::vector<float>& v) {
        cudaMemcpy(p, v.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    }
    void download(std::vector<float>& v) const {
        cudaMemcpy(v.data(), p, count * sizeof(float), cudaMemcpyDeviceToHost);
    }
};

std::vector<float> from_file(const std::string& path, size_t count) {
    std::vector<float> v(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(v.data()), count * sizeof(float));
    if (!file) throw std::runtime_error("cannot read " + path);
    return v;
}

constexpr int kCount = 1111;

__device__ float minor2(float a, float b, float c, float d) {
    return a * d - b * c;
}

// Laplace expansion along the upper two rows: six 2x2 minors above meet their complements below.
__global__ void det_by_minors(const float4* __restrict__ a, float* __restrict__ det) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kCount) return;
    const float4 p = a[4 * i], q = a[4 * i + 1], r = a[4 * i + 2], s = a[4 * i + 3];
    float d = minor2(p.x, p.y, q.x, q.y) * minor2(r.z, r.w, s.z, s.w);
    d -= minor2(p.x, p.z, q.x, q.z) * minor2(r.y, r.w, s.y, s.w);
    d += minor2(p.x, p.w, q.x, q.w) * minor2(r.y, r.z, s.y, s.z);
    d += minor2(p.y, p.z, q.y, q.z) * minor2(r.x, r.w, s.x, s.w);
    d -= minor2(p.y, p.w, q.y, q.w) * minor2(r.x, r.z, s.x, s.z);
    d += minor2(p.z, p.w, q.z, q.w) * minor2(r.x, r.y, s.x, s.y);
    det[i] = d;
}

int main() {
    std::vector<float> host_a = from_file("data/a.bin", kCount * 4 * 4);
    std::vector<float> host_det(kCount);

    DeviceArray dev_a(kCount * 4 * 4), dev_det(kCount);
    dev_a.upload(host_a);

    det_by_minors<<<(kCount + 127) / 128, 128>>>((const float4*)dev_a.p, dev_det.p);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("CUDA error");

    dev_det.download(host_det);
    std::ofstream("data/det.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(host_det.data()), kCount * sizeof(float));
    return 0;
}
