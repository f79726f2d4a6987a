#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kChannels = 20;
constexpr int kSamples = 1000;

struct GpuArray {
    float* p = nullptr;
    size_t count;
    explicit GpuArray(size_t n) : count(n) {
        if (cudaMalloc(&p, n * sizeof(float)) != cudaSuccess) {
            std::cerr << "cudaMalloc failed" << std::endl;
            std::exit(1);
        }
    }
    ~GpuArray() { cudaFree(p); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
    void from_host(const std::vector<float>& v) {
        cudaMemcpy(p, v.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    }
    void to_host(std::vector<float>& v) const {
        cudaMemcpy(v.data(), p, count * sizeof(float), cudaMemcpyDeviceToHost);
    }
};

std::vector<float> load(const std::string& path, size_t n) {
    std::vector<float> v(n);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(v.data()), n * sizeof(float));
    if (!in) {
        std::cerr << "cannot read " + path << std::endl;
        std::exit(1);
    }
    return v;
}

__global__ void follow(const float* audio, const float* attack, const float* release, float* envelope) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= kChannels) return;
    float a = attack[c], r = release[c];
    float e = 0.0f;
    for (int t = 0; t < kSamples; ++t) {
        float m = fabsf(audio[c * kSamples + t]);
        e += (m > e ? a : r) * (m - e);
        envelope[c * kSamples + t] = e;
    }
}

int main() {
    const size_t n_audio = kChannels * kSamples;
    std::vector<float> h_audio = load("data/audio.bin", n_audio);
    std::vector<float> h_attack = load("data/attack.bin", kChannels);
    std::vector<float> h_release = load("data/release.bin", kChannels);
    std::vector<float> h_envelope(n_audio);

    GpuArray dev_audio(n_audio);
    GpuArray dev_attack(kChannels);
    GpuArray dev_release(kChannels);
    GpuArray dev_envelope(n_audio);
    dev_audio.from_host(h_audio);
    dev_attack.from_host(h_attack);
    dev_release.from_host(h_release);

    follow<<<(kChannels + 63) / 64, 64>>>(dev_audio.p, dev_attack.p, dev_release.p, dev_envelope.p);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed" << std::endl;
        std::exit(1);
    }

    dev_envelope.to_host(h_envelope);
    std::ofstream out("data/envelope.bin", std::ios::binary);
    out.write((char*)h_envelope.data(), sizeof(float) * n_audio);
    return 0;
}
