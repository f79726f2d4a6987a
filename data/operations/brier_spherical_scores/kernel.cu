#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 400;
const int CLASSES = 40;
const int NUM_ELEMENTS = ROWS * CLASSES;

template <typename T>
struct DeviceBuffer {
    T* ptr = nullptr;
    size_t count;
    explicit DeviceBuffer(size_t n_) : count(n_) {
        if (cudaMalloc(&ptr, n_ * sizeof(T)) != cudaSuccess) {
            throw std::runtime_error("cudaMalloc failed");
        }
    }
    ~DeviceBuffer() { cudaFree(ptr); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

template <typename T>
std::vector<T> read_vector(const char* path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T))) {
        throw std::runtime_error(std::string("cannot read ") + path);
    }
    return v;
}

__global__ void score_rows_warp(const float* __restrict__ probs, const int* __restrict__ labels,
                                float* __restrict__ brier, float* __restrict__ spherical) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (row >= ROWS) return;
    const float* p = probs + (size_t)row * CLASSES;
    const int y = labels[row];
    // Sum of squares without the true class; both scores follow from it and p[y].
    float others = 0.0f;
    for (int k = lane; k < CLASSES; k += 32) {
        const float v = k == y ? 0.0f : p[k];
        others = fmaf(v, v, others);
    }
    for (int d = 16; d > 0; d >>= 1) others += __shfl_xor_sync(0xffffffffu, others, d);
    if (lane == 0) {
        const float hit = p[y];
        brier[row] = others + (1.0f - hit) * (1.0f - hit);
        spherical[row] = hit * rsqrtf(others + hit * hit);
    }
}

int main() try {
    auto h_probs = read_vector<float>("data/probs.bin", NUM_ELEMENTS);
    auto h_labels = read_vector<int>("data/labels.bin", ROWS);
    std::vector<float> h_brier(ROWS);
    std::vector<float> h_spherical(ROWS);

    DeviceBuffer<float> d_probs(NUM_ELEMENTS);
    DeviceBuffer<int> d_labels(ROWS);
    DeviceBuffer<float> d_brier(ROWS);
    DeviceBuffer<float> d_spherical(ROWS);
    cudaMemcpy(d_probs.ptr, h_probs.data(), NUM_ELEMENTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_labels.ptr, h_labels.data(), ROWS * sizeof(int), cudaMemcpyHostToDevice);

    score_rows_warp<<<(ROWS + 7) / 8, 256>>>(d_probs.ptr, d_labels.ptr, d_brier.ptr, d_spherical.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        throw std::runtime_error("kernel failed");
    }

    cudaMemcpy(h_brier.data(), d_brier.ptr, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_spherical.data(), d_spherical.ptr, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream brier_out("data/brier.bin", std::ios::binary);
    brier_out.write(reinterpret_cast<const char*>(h_brier.data()), h_brier.size() * sizeof(float));
    std::ofstream spherical_out("data/spherical.bin", std::ios::binary);
    spherical_out.write(reinterpret_cast<const char*>(h_spherical.data()), h_spherical.size() * sizeof(float));
    return 0;
} catch (const std::exception& e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
}
