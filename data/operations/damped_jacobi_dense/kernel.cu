#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 100;
constexpr float kDamping = 0.8f;
constexpr int kSweeps = 8;

struct GpuArray {
    float* ptr_ = nullptr;
    size_t count;
    explicit GpuArray(size_t n) : count(n) {
        if (cudaMalloc(&ptr_, n * sizeof(float)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~GpuArray() { cudaFree(ptr_); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
    float* get() const { return ptr_; }
    void upload(const std::vector<float>& v) {
        cudaMemcpy(ptr_, v.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    }
    void download(std::vector<float>& v) const {
        cudaMemcpy(v.data(), ptr_, count * sizeof(float), cudaMemcpyDeviceToHost);
    }
};

std::vector<float> from_file(const std::string& path, size_t count) {
    std::vector<float> v(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(v.data()), count * sizeof(float));
    if (!file) throw std::runtime_error("cannot read " + path);
    return v;
}

// One warp per row makes the residual and, in the same launch, the new value; old and new vectors are separate.
__global__ void jacobi_sweep(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ old,
                             float* __restrict__ fresh, float* __restrict__ residual) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (row >= kN) return;
    const float* line = a + (size_t)row * kN;
    float sum = 0.0f;
    for (int j = lane; j < kN; j += 32) sum = fmaf(line[j], old[j], sum);
    for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) {
        const float r = b[row] - sum;
        if (fresh != nullptr) fresh[row] = old[row] + kDamping * r / line[row];
        if (residual != nullptr) residual[row] = r;
    }
}

int main() {
    std::vector<float> host_a = from_file("data/a.bin", kN * kN);
    std::vector<float> host_b = from_file("data/b.bin", kN);
    std::vector<float> host_x0 = from_file("data/x0.bin", kN);
    std::vector<float> host_x(kN);
    std::vector<float> host_residual(kN);

    GpuArray d_a(kN * kN), d_b(kN), d_x0(kN), d_x(kN), d_residual(kN), d_other(kN);
    d_a.upload(host_a);
    d_b.upload(host_b);
    d_x0.upload(host_x0);

    const int grid = (kN + 7) / 8;
    float* null = nullptr;
    jacobi_sweep<<<grid, 256>>>(d_a.get(), d_b.get(), d_x0.get(), d_other.get(), null);
    float *from = d_other.get(), *to = d_x.get();
    for (int sweep = 1; sweep < kSweeps; ++sweep) {
        jacobi_sweep<<<grid, 256>>>(d_a.get(), d_b.get(), from, to, null);
        float* swap = from;
        from = to;
        to = swap;
    }
    jacobi_sweep<<<grid, 256>>>(d_a.get(), d_b.get(), from, null, d_residual.get());
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    d_x.download(host_x);
    d_residual.download(host_residual);
    std::ofstream("data/x.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(host_x.data()), kN * sizeof(float));
    std::ofstream("data/residual.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(host_residual.data()), kN * sizeof(float));
    return 0;
}
