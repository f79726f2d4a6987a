#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("failed to read " + path);
    }
    return values;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kQueues = 60;
constexpr int kCustomers = 300;

__global__ void queue_waits(const int* service, const int* gap, int* wait) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= kQueues) return;
    size_t base = (size_t)q * kCustomers;
    int w = 0;
    wait[base] = 0;
    for (int n = 1; n < kCustomers; ++n) {
        w += service[base + n - 1] - gap[base + n];
        if (w < 0) w = 0;
        wait[base + n] = w;
    }
}

int main() {
    const auto h_service = read_vector<int>("data/service.bin", kQueues * kCustomers);
    const auto h_gap = read_vector<int>("data/gap.bin", kQueues * kCustomers);

    int *d_service, *d_gap, *d_wait;
    cudaMalloc(&d_service, kQueues * kCustomers * sizeof(int));
    cudaMalloc(&d_gap, kQueues * kCustomers * sizeof(int));
    cudaMalloc(&d_wait, kQueues * kCustomers * sizeof(int));
    cudaMemcpy(d_service, h_service.data(), kQueues * kCustomers * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gap, h_gap.data(), kQueues * kCustomers * sizeof(int), cudaMemcpyHostToDevice);

    queue_waits<<<(kQueues + 64 - 1) / 64, 64>>>(d_service, d_gap, d_wait);
    if (auto err = cudaGetLastError(); err != cudaSuccess) throw std::runtime_error(cudaGetErrorString(err));

    std::vector<int> h_wait(kQueues * kCustomers);
    cudaMemcpy(h_wait.data(), d_wait, kQueues * kCustomers * sizeof(int), cudaMemcpyDeviceToHost);
    write_vector("data/wait.bin", h_wait);
    cudaFree(d_service);
    cudaFree(d_gap);
    cudaFree(d_wait);
    return 0;
}
