#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

static const int kRows = 120;
static const int kCols = 200;

template <typename T>
struct DeviceArray {
    T* ptr = nullptr;
    size_t count;
    explicit DeviceArray(size_t n) : count(n) {
        if (cudaMalloc(&ptr, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~DeviceArray() { cudaFree(ptr); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    void upload(const std::vector<T>& v) { cudaMemcpy(ptr, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
    void download(std::vector<T>& v) const { cudaMemcpy(v.data(), ptr, count * sizeof(T), cudaMemcpyDeviceToHost); }
};

template <typename T>
std::vector<T> read(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T)))
        throw std::runtime_error(std::string("cannot read ") + path);
    return v;
}

const int kStrip = 64;

// Each block adds a strip of 64 rows to v with atomics.
__global__ void left_product(const float* __restrict__ w, const float* __restrict__ u, float* v) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= kCols) return;
    int last = min(kRows, (int)(blockIdx.y + 1) * kStrip);
    float sum = 0.0f;
    for (int r = blockIdx.y * kStrip; r < last; ++r) sum = fmaf(w[(size_t)r * kCols + c], u[r], sum);
    atomicAdd(&v[c], sum);
}

// z is taken with the unscaled v; its direction is the same, and |z| / |v| is sigma.
__global__ void right_product(const float* __restrict__ w, const float* __restrict__ v, float* z, float* squares) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= kRows) return;
    float sum = 0.0f, vv = 0.0f;
    for (int c = lane; c < kCols; c += 32) {
        sum = fmaf(w[(size_t)row * kCols + c], v[c], sum);
        vv = fmaf(v[c], v[c], vv);
    }
    for (int s = 16; s > 0; s >>= 1) {
        sum += __shfl_down_sync(0xffffffffu, sum, s);
        vv += __shfl_down_sync(0xffffffffu, vv, s);
    }
    if (lane == 0) {
        z[row] = sum;
        atomicAdd(&squares[1], sum * sum);
        if (row == 0) squares[0] = vv;
    }
}

__global__ void finish(const float* __restrict__ w, const float* __restrict__ z, const float* __restrict__ squares,
                       float* __restrict__ w_out, float* __restrict__ u_next) {
    const float inv_sigma = sqrtf(squares[0] / squares[1]);
    const float inv_z = rsqrtf(squares[1]);
    const int step = gridDim.x * blockDim.x;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < kRows * kCols; i += step) w_out[i] = w[i] * inv_sigma;
    for (int r = first; r < kRows; r += step) u_next[r] = z[r] * inv_z;
}

int main() {
    const size_t w_count = (size_t)kRows * kCols;
    std::vector<float> w_host = read<float>("data/w.bin", w_count);
    std::vector<float> u_host = read<float>("data/u.bin", kRows);
    std::vector<float> w_normalized_host(w_count);
    std::vector<float> u_next_host(kRows);

    DeviceArray<float> w_dev(w_count);
    DeviceArray<float> u_dev(kRows);
    DeviceArray<float> w_normalized_dev(w_count);
    DeviceArray<float> u_next_dev(kRows);
    DeviceArray<float> v_dev(kCols);
    DeviceArray<float> z_dev(kRows);
    DeviceArray<float> squares_dev(2);
    w_dev.upload(w_host);
    u_dev.upload(u_host);
    cudaMemset(v_dev.ptr, 0, kCols * sizeof(float));
    cudaMemset(squares_dev.ptr, 0, 2 * sizeof(float));

    dim3 strips((kCols + 128 - 1) / 128, (kRows + kStrip - 1) / kStrip);
    left_product<<<strips, 128>>>(w_dev.ptr, u_dev.ptr, v_dev.ptr);
    right_product<<<(kRows + 4 - 1) / 4, 128>>>(w_dev.ptr, v_dev.ptr, z_dev.ptr, squares_dev.ptr);
    int blocks = (kRows * kCols + 256 - 1) / 256;
    finish<<<blocks < 2048 ? blocks : 2048, 256>>>(w_dev.ptr, z_dev.ptr, squares_dev.ptr, w_normalized_dev.ptr,
        u_next_dev.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("CUDA error");

    w_normalized_dev.download(w_normalized_host);
    u_next_dev.download(u_next_host);
    std::ofstream("data/w_normalized.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(w_normalized_host.data()), w_count * sizeof(float));
    std::ofstream("data/u_next.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(u_next_host.data()), kRows * sizeof(float));
    return 0;
}
