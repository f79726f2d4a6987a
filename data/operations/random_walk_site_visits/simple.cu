#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct DeviceBuffer {
    T* ptr_ = nullptr;
    explicit DeviceBuffer(size_t count) {
        if (cudaMalloc(&ptr_, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceBuffer() { cudaFree(ptr_); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    T* get() const { return ptr_; }
};

template <typename T>
void read_into(const std::string& path, std::vector<T>& v) {
    FILE* f = fopen(path.c_str(), "rb");
    if (!f || fread(v.data(), sizeof(T), v.size(), f) != v.size()) throw std::runtime_error("cannot read " + path);
    fclose(f);
}

constexpr int kWalkers = 500;
constexpr int kMoves = 100;
constexpr int kSide = 64;

__global__ void walk(const int* start, const unsigned char* draws, int* visits, int* final_site) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= kWalkers) return;
    int row = start[w] / kSide;
    int col = start[w] % kSide;
    atomicAdd(&visits[row * kSide + col], 1);
    for (int m = 0; m < kMoves; ++m) {
        int direction = draws[(size_t)w * kMoves + m] % 4;
        if (direction == 0) col = (col + 1) % kSide;
        else if (direction == 1) col = (col + kSide - 1) % kSide;
        else if (direction == 2) row = (row + 1) % kSide;
        else row = (row + kSide - 1) % kSide;
        atomicAdd(&visits[row * kSide + col], 1);
    }
    final_site[w] = row * kSide + col;
}

int main() {
    try {
        std::vector<int> host_start(kWalkers);
        std::vector<unsigned char> host_draws(kWalkers * kMoves);
        std::vector<int> host_visits(kSide * kSide);
        std::vector<int> host_final_site(kWalkers);
        read_into("data/start.bin", host_start);
        read_into("data/draws.bin", host_draws);

        DeviceBuffer<int> start(kWalkers);
        DeviceBuffer<unsigned char> draws(kWalkers * kMoves);
        DeviceBuffer<int> visits(kSide * kSide);
        DeviceBuffer<int> final_site(kWalkers);
        cudaMemcpy(start.get(), host_start.data(), sizeof(int) * kWalkers, cudaMemcpyHostToDevice);
        cudaMemcpy(draws.get(), host_draws.data(), sizeof(unsigned char) * kWalkers * kMoves,
            cudaMemcpyHostToDevice);

        int threads = 128;
        cudaMemset(visits.get(), 0, sizeof(int) * kSide * kSide);
        walk<<<(kWalkers + threads - 1) / threads, threads>>>(start.get(), draws.get(), visits.get(),
            final_site.get());
        if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

        cudaMemcpy(host_visits.data(), visits.get(), sizeof(int) * kSide * kSide, cudaMemcpyDeviceToHost);
        cudaMemcpy(host_final_site.data(), final_site.get(), sizeof(int) * kWalkers, cudaMemcpyDeviceToHost);
        FILE* out = fopen("data/visits.bin", "wb");
        if (!out) return 1;
        fwrite(host_visits.data(), sizeof(int), host_visits.size(), out);
        fclose(out);
        out = fopen("data/final_site.bin", "wb");
        if (!out) return 1;
        fwrite(host_final_site.data(), sizeof(int), host_final_site.size(), out);
        fclose(out);
    } catch (const std::exception& e) {
        fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
