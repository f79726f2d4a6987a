#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxChannels = 4096, kMaxLength = 1 << 20;
constexpr int kThreads = 256, kPerThread = 4;

__global__ void discriminate(const char2* __restrict__ iq, float* __restrict__ angle, int n) {
    const char2* samples = iq + static_cast<size_t>(blockIdx.y) * n;
    float* out = angle + static_cast<size_t>(blockIdx.y) * (n - 1);
    const int first = blockIdx.x * kThreads * kPerThread + threadIdx.x;
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
        const int t = first + k * kThreads;
        if (t >= n - 1) return;
        const char2 a = samples[t], b = samples[t + 1];
        const int dot = b.x * a.x + b.y * a.y, cross = b.y * a.x - b.x * a.y;
        out[t] = atan2f(static_cast<float>(cross), static_cast<float>(dot));
    }
}

static void ensure(bool good, const char* what, const char* why) {
    if (good) return;
    std::fprintf(stderr, "%s: %s\n", what, why);
    std::exit(1);
}

static void ensure(cudaError_t status, const char* what) {
    ensure(status == cudaSuccess, what, cudaGetErrorString(status));
}

static void readFile(const char* path, void* data, std::streamsize bytes) {
    std::ifstream in(path, std::ios::binary);
    in.read(static_cast<char*>(data), bytes);
    ensure(in.gcount() == bytes && in.get() == EOF, path, "not of the expected length");
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int channels = sizes[0], n = sizes[1];
    ensure(channels >= 1 && channels <= kMaxChannels, "data/sizes.bin", "channels out of range");
    ensure(n >= 2 && n <= kMaxLength, "data/sizes.bin", "n out of range");
    std::vector<char2> iq(static_cast<size_t>(channels) * n);
    std::vector<float> angle(static_cast<size_t>(channels) * (n - 1));
    readFile("data/iq.bin", iq.data(), iq.size() * sizeof(char2));

    char2* dIq = nullptr;
    float* dAngle = nullptr;
    ensure(cudaMalloc(&dIq, iq.size() * sizeof(char2)), "allocate");
    ensure(cudaMalloc(&dAngle, angle.size() * sizeof(float)), "allocate");
    ensure(cudaMemcpy(dIq, iq.data(), iq.size() * sizeof(char2), cudaMemcpyHostToDevice), "upload");
    const int perBlock = kThreads * kPerThread;
    discriminate<<<dim3((n - 1 + perBlock - 1) / perBlock, channels), kThreads>>>(dIq, dAngle, n);
    ensure(cudaGetLastError(), "launch");
    ensure(cudaMemcpy(angle.data(), dAngle, angle.size() * sizeof(float), cudaMemcpyDeviceToHost), "download");
    ensure(cudaFree(dIq), "free");
    ensure(cudaFree(dAngle), "free");

    std::ofstream out("data/angle.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(angle.data()), angle.size() * sizeof(float));
    out.close();
    ensure(static_cast<bool>(out), "data/angle.bin", "cannot be written");
    return 0;
}
