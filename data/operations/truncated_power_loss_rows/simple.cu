#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct GpuArray {
    T* ptr = nullptr;
    size_t count;
    explicit GpuArray(size_t n_) : count(n_) {
        if (cudaMalloc(&ptr, n_ * sizeof(T)) != cudaSuccess) {
            throw std::runtime_error("cudaMalloc failed");
        }
    }
    ~GpuArray() { cudaFree(ptr); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
    void from_host(const std::vector<T>& v) { cudaMemcpy(ptr, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
    void to_host(std::vector<T>& v) const {
        cudaMemcpy(v.data(), ptr, count * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

template <typename T>
std::vector<T> load(const char* path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T))) {
        throw std::runtime_error(std::string("cannot read ") + path);
    }
    return v;
}

constexpr int kRows = 300;
constexpr int kClasses = 50;

__global__ void truncated_lq(const float* probs, const int* labels, float* loss, int* kept, int rows, int classes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    int label = labels[i];
    float value = 0.0f;
    if (label >= 0) {
        float p = probs[(size_t)i * classes + label];
        if (p > 0.5f) atomicAdd(kept, 1);
        value = (1.0f - powf(fmaxf(p, 0.5f), 0.7f)) / 0.7f;
    }
    loss[i] = value;
}

int main() try {
    auto h_probs = load<float>("data/probs.bin", kRows * kClasses);
    std::vector<int> h_labels = load<int>("data/labels.bin", kRows);
    std::vector<float> h_loss(kRows);
    std::vector<int> h_kept(1);

    GpuArray<float> dev_probs(kRows * kClasses);
    GpuArray<int> dev_labels(kRows);
    GpuArray<float> dev_loss(kRows);
    GpuArray<int> dev_kept(1);
    dev_probs.from_host(h_probs);
    dev_labels.from_host(h_labels);
    cudaMemset(dev_kept.ptr, 0, sizeof(int));

    truncated_lq<<<(kRows + 255) / 256, 256>>>(dev_probs.ptr, dev_labels.ptr, dev_loss.ptr, dev_kept.ptr,
            kRows, kClasses);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        throw std::runtime_error("kernel failed");
    }

    dev_loss.to_host(h_loss);
    dev_kept.to_host(h_kept);
    std::ofstream loss_out("data/loss.bin", std::ios::binary);
    loss_out.write(reinterpret_cast<const char*>(h_loss.data()), h_loss.size() * sizeof(float));
    std::ofstream kept_out("data/kept.bin", std::ios::binary);
    kept_out.write(reinterpret_cast<const char*>(h_kept.data()), h_kept.size() * sizeof(int));
    return 0;
} catch (const std::exception& e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
}
