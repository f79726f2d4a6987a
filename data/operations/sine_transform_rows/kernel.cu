#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 150;
constexpr int kLength = 31;

struct DeviceArray {
    float* data = nullptr;
    size_t count;
    explicit DeviceArray(size_t n) : count(n) {
        if (cudaMalloc(&data, n * sizeof(float)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceArray() { cudaFree(data); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    void copyFrom(const std::vector<float>& v) {
        cudaMemcpy(data, v.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    }
    void copyTo(std::vector<float>& v) const {
        cudaMemcpy(v.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost);
    }
};

std::vector<float> readFile(const std::string& path, size_t n) {
    std::vector<float> v(n);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(v.data()), n * sizeof(float));
    if (!in) throw std::runtime_error("cannot read " + path);
    return v;
}

constexpr int PERIOD = 2 * (kLength + 1);
constexpr int WARPS = 4;

// A warp transforms one row; the sines of one period stand in a shared table.
__global__ void string_modes(const float* __restrict__ u, float* __restrict__ modes, float* __restrict__ energy) {
    __shared__ float sine[PERIOD];
    __shared__ float shape[WARPS][kLength];
    for (int i = threadIdx.x; i < PERIOD; i += blockDim.x) sine[i] = sinpif(i / (kLength + 1.0f));
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int r = blockIdx.x * WARPS + warp;
    if (r < kRows) {
        for (int j = lane; j < kLength; j += 32) shape[warp][j] = u[r * kLength + j];
    }
    __syncthreads();
    if (r >= kRows) return;
    float e = 0.0f;
    for (int k = lane + 1; k <= kLength; k += 32) {
        float sum = 0.0f;
        int turn = 0;
        for (int j = 0; j < kLength; j++) {
            turn += k;
            if (turn >= PERIOD) turn -= PERIOD;
            sum = fmaf(shape[warp][j], sine[turn], sum);
        }
        modes[r * kLength + k - 1] = sum;
        e += (k * sum) * (k * sum);
    }
    for (int s = 16; s > 0; s /= 2) e += __shfl_down_sync(0xffffffffu, e, s);
    const float n = kLength + 1.0f;
    if (lane == 0) energy[r] = e / (n * n * n);
}

int main() {
    const size_t num_u = kRows * kLength;
    std::vector<float> u = readFile("data/u.bin", num_u);
    std::vector<float> modes(num_u);
    std::vector<float> energy(kRows);

    DeviceArray d_u(num_u);
    DeviceArray d_modes(num_u);
    DeviceArray d_energy(kRows);
    d_u.copyFrom(u);

    string_modes<<<(kRows + WARPS - 1) / WARPS, 32 * WARPS>>>(d_u.data, d_modes.data, d_energy.data);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    d_modes.copyTo(modes);
    d_energy.copyTo(energy);
    std::ofstream out_modes("data/modes.bin", std::ios::binary);
    out_modes.write(reinterpret_cast<char*>(modes.data()), num_u * sizeof(float));
    std::ofstream out_energy("data/energy.bin", std::ios::binary);
    out_energy.write(reinterpret_cast<char*>(energy.data()), kRows * sizeof(float));
    return 0;
}
