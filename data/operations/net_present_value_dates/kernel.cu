#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kProjects = 300;
constexpr int kFlows = 40;
const int kWarps = 4;

template <typename T>
struct DeviceBuffer {
    T* ptr = nullptr;
    explicit DeviceBuffer(size_t count) {
        if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceBuffer() { cudaFree(ptr); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

template <typename T>
void read_into(const std::string& path, std::vector<T>& v) {
    FILE* f = fopen(path.c_str(), "rb");
    if (!f || fread(v.data(), sizeof(T), v.size(), f) != v.size()) throw std::runtime_error("cannot read " + path);
    fclose(f);
}

// One warp a project; the power is an exponential of days times a factor that is computed once.
__global__ void value_projects(const float* __restrict__ amounts, const int* __restrict__ days,
                               const float* __restrict__ rate, float* __restrict__ value,
                               float* __restrict__ positive_share) {
    int project = blockIdx.x * kWarps + threadIdx.x / 32;
    if (project >= kProjects) return;
    int lane = threadIdx.x % 32;
    float decay = -log1pf(rate[project]) / 365.0f;
    float sum = 0.0f, size = 0.0f;
    for (int k = lane; k < kFlows; k += 32) {
        size_t i = (size_t)project * kFlows + k;
        float worth = amounts[i] * expf(decay * days[i]);
        sum += worth;
        size += fabsf(worth);
    }
    for (int s = 16; s > 0; s /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, s);
        size += __shfl_down_sync(0xffffffffu, size, s);
    }
    if (lane == 0) {
        value[project] = sum;
        positive_share[project] = 0.5f * (sum + size) / size;
    }
}

int main() {
    try {
        std::vector<float> h_amounts(kProjects * kFlows);
        std::vector<int> h_days(kProjects * kFlows);
        std::vector<float> h_rate(kProjects);
        std::vector<float> h_value(kProjects);
        std::vector<float> h_positive_share(kProjects);
        read_into("data/amounts.bin", h_amounts);
        read_into("data/days.bin", h_days);
        read_into("data/rate.bin", h_rate);

        DeviceBuffer<float> amounts(kProjects * kFlows);
        DeviceBuffer<int> days(kProjects * kFlows);
        DeviceBuffer<float> rate(kProjects);
        DeviceBuffer<float> value(kProjects);
        DeviceBuffer<float> positive_share(kProjects);
        cudaMemcpy(amounts.ptr, h_amounts.data(), sizeof(float) * kProjects * kFlows, cudaMemcpyHostToDevice);
        cudaMemcpy(days.ptr, h_days.data(), sizeof(int) * kProjects * kFlows, cudaMemcpyHostToDevice);
        cudaMemcpy(rate.ptr, h_rate.data(), sizeof(float) * kProjects, cudaMemcpyHostToDevice);

        value_projects<<<(kProjects + kWarps - 1) / kWarps, kWarps * 32>>>(amounts.ptr, days.ptr, rate.ptr,
            value.ptr, positive_share.ptr);
        if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

        cudaMemcpy(h_value.data(), value.ptr, sizeof(float) * kProjects, cudaMemcpyDeviceToHost);
        cudaMemcpy(h_positive_share.data(), positive_share.ptr, sizeof(float) * kProjects, cudaMemcpyDeviceToHost);
        FILE* out = fopen("data/value.bin", "wb");
        if (!out) return 1;
        fwrite(h_value.data(), sizeof(float), h_value.size(), out);
        fclose(out);
        out = fopen("data/positive_share.bin", "wb");
        if (!out) return 1;
        fwrite(h_positive_share.data(), sizeof(float), h_positive_share.size(), out);
        fclose(out);
    } catch (const std::exception& e) {
        fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
