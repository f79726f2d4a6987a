#include <cuda_runtime.h>
#include <cfloat>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kPlanes = 30;
constexpr int kHeight = 30;
constexpr int kWidth = 41;

template <typename T>
struct GpuArray {
    T* p = nullptr;
    size_t count;
    explicit GpuArray(size_t n) : count(n) {
        if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~GpuArray() { cudaFree(p); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
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

// One block a plane, sixteen warps for the sixteen fine cells; the coarse bins are maxima of fine ones
// because floor and ceil of the borders agree between the levels.
__global__ void pyramid_plane(const float* __restrict__ maps, float* __restrict__ bins) {
    __shared__ float fine[16];
    const int cell = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int r0 = (cell / 4) * kHeight / 4, r1 = ((cell / 4 + 1) * kHeight + 3) / 4;
    const int c0 = (cell % 4) * kWidth / 4, c1 = ((cell % 4 + 1) * kWidth + 3) / 4;
    const float* map = maps + (size_t)blockIdx.x * kHeight * kWidth;
    float m = -FLT_MAX;
    for (int r = r0; r < r1; ++r)
        for (int c = c0 + lane; c < c1; c += 32) m = fmaxf(m, map[r * kWidth + c]);
    for (int s = 16; s > 0; s >>= 1) m = fmaxf(m, __shfl_down_sync(0xffffffffu, m, s));
    if (lane == 0) fine[cell] = m;
    __syncthreads();
    float* out = bins + (size_t)blockIdx.x * 21;
    const int t = threadIdx.x;
    if (t < 16) {
        out[5 + t] = fine[t];
    } else if (t < 20) {
        int q = t - 16, first = (q / 2) * 8 + (q % 2) * 2;
        out[1 + q] = fmaxf(fmaxf(fine[first], fine[first + 1]), fmaxf(fine[first + 4], fine[first + 5]));
    } else if (t == 20) {
        float all = fine[0];
        for (int k = 1; k < 16; ++k) all = fmaxf(all, fine[k]);
        out[0] = all;
    }
}

int main() {
    const size_t num_maps = kPlanes * kHeight * kWidth;
    const size_t num_bins = kPlanes * 21;
    std::vector<float> maps_host = readVector<float>("data/maps.bin", num_maps);
    std::vector<float> bins_host(num_bins);

    GpuArray<float> d_maps(num_maps);
    GpuArray<float> d_bins(num_bins);
    d_maps.upload(maps_host);

    pyramid_plane<<<kPlanes, 512>>>(d_maps.get(), d_bins.get());
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("launch error");

    d_bins.download(bins_host);
    std::ofstream("data/bins.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(bins_host.data()), num_bins * sizeof(float));
    return 0;
}
