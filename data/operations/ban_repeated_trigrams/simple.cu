#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

constexpr int BATCH = 16;
constexpr int VOCAB = 500;
constexpr int LENGTH = 100;

template <typename T>
struct GpuArray {
    T* ptr = nullptr;
    size_t count;
    explicit GpuArray(size_t n) : count(n) {
        if (cudaMalloc(&ptr, n * sizeof(T)) != cudaSuccess) {
            std::cerr << "out of device memory\n";
            std::exit(1);
        }
    }
    ~GpuArray() { cudaFree(ptr); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
    void upload(const std::vector<T>& v) { cudaMemcpy(ptr, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
    void download(std::vector<T>& v) const { cudaMemcpy(v.data(), ptr, count * sizeof(T), cudaMemcpyDeviceToHost); }
};

template <typename T>
std::vector<T> read(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "cannot read " + path << "\n";
        std::exit(1);
    }
    return v;
}

__global__ void copy_logits(const float* logits, float* filtered) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < BATCH * VOCAB) filtered[i] = logits[i];
}

__global__ void ban(const int* generated, float* filtered, int* banned) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (t + 2 > LENGTH - 1) return;
    const int* g = generated + b * LENGTH;
    if (g[t] != g[LENGTH - 2] || g[t + 1] != g[LENGTH - 1]) return;
    // only the first one to set the score counts the token
    float old = atomicExch(&filtered[(size_t)b * VOCAB + g[t + 2]], -1e9f);
    if (old != -1e9f) atomicAdd(&banned[b], 1);
}

int main() {
    const int num_logits = BATCH * VOCAB;
    const int num_generated = BATCH * LENGTH;
    std::vector<float> logits = read<float>("data/logits.bin", num_logits);
    std::vector<int> generated = read<int>("data/generated.bin", num_generated);
    std::vector<float> filtered(num_logits);
    std::vector<int> banned(BATCH);

    GpuArray<float> dev_logits(num_logits);
    GpuArray<int> dev_generated(num_generated);
    GpuArray<float> dev_filtered(num_logits);
    GpuArray<int> dev_banned(BATCH);
    dev_logits.upload(logits);
    dev_generated.upload(generated);
    cudaMemset(dev_banned.ptr, 0, BATCH * sizeof(int));

    copy_logits<<<(BATCH * VOCAB + 256 - 1) / 256, 256>>>(dev_logits.ptr, dev_filtered.ptr);
    dim3 grid((LENGTH + 128 - 1) / 128, BATCH);
    ban<<<grid, 128>>>(dev_generated.ptr, dev_filtered.ptr, dev_banned.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA error\n";
        return 1;
    }

    dev_filtered.download(filtered);
    dev_banned.download(banned);
    std::ofstream("data/filtered.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(filtered.data()), num_logits * sizeof(float));
    std::ofstream("data/banned.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(banned.data()), BATCH * sizeof(int));
    return 0;
}
