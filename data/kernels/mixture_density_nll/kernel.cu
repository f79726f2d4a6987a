#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kWarpsPerBlock = 4;
constexpr float kHalfLogTwoPi = 0.918938533204673f;

struct LogSum {  // log(sum of exp) of the values seen so far is top + log(sum)
    float top = -INFINITY;
    float sum = 0.0f;

    __device__ void add(float value) {
        if (value > top) {
            sum = sum * expf(top - value) + 1.0f;
            top = value;
        } else {
            sum += expf(value - top);
        }
    }
    __device__ float value() const { return top + logf(sum); }
};

__global__ void mixtureLoss(const float* __restrict__ logits, const float* __restrict__ means,
                            const float* __restrict__ logScales, const float* __restrict__ targets,
                            float* __restrict__ loss, int samples, int components, int width) {
    const int sample = blockIdx.x * kWarpsPerBlock + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (sample >= samples) return;

    const float* target = targets + static_cast<size_t>(sample) * width;
    LogSum weights, joint;
    for (int k = 0; k < components; ++k) {
        const size_t at = static_cast<size_t>(sample) * components + k;
        const float* mean = means + at * width;
        float distance = 0.0f;
        for (int d = lane; d < width; d += 32) {
            const float diff = target[d] - mean[d];
            distance = fmaf(diff, diff, distance);
        }
        for (int step = 16; step > 0; step /= 2) distance += __shfl_xor_sync(0xffffffffu, distance, step);
        const float logit = logits[at], logScale = logScales[at];
        weights.add(logit);
        joint.add(logit - 0.5f * distance * expf(-2.0f * logScale) - width * (logScale + kHalfLogTwoPi));
    }
    if (lane == 0) loss[sample] = weights.value() - joint.value();
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

class FloatBuffer {
public:
    explicit FloatBuffer(size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(float))); }
    FloatBuffer(const FloatBuffer&) = delete;
    FloatBuffer& operator=(const FloatBuffer&) = delete;
    ~FloatBuffer() { cudaFree(data_); }
    float* get() const { return data_; }

    void fill(const std::string& path) {
        std::vector<float> host(count_);
        std::ifstream in(path, std::ios::binary);
        in.read(reinterpret_cast<char*>(host.data()), count_ * sizeof(float));
        if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
        check(cudaMemcpy(data_, host.data(), count_ * sizeof(float), cudaMemcpyHostToDevice));
    }
    void save(const std::string& path) const {
        std::vector<float> host(count_);
        check(cudaMemcpy(host.data(), data_, count_ * sizeof(float), cudaMemcpyDeviceToHost));
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(host.data()), count_ * sizeof(float));
        out.close();
        if (!out) throw std::runtime_error(path + ": not written");
    }

private:
    float* data_ = nullptr;
    size_t count_;
};

int main() {
    try {
        int32_t sizes[3];
        std::ifstream in("data/sizes.bin", std::ios::binary);
        in.read(reinterpret_cast<char*>(sizes), sizeof sizes);
        if (!in || in.peek() != EOF) throw std::runtime_error("data/sizes.bin: expected 3 values");
        const int samples = sizes[0], components = sizes[1], width = sizes[2];
        if (samples < 1 || samples > 1000000 || components < 1 || components > 128 || width < 1 || width > 512) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const size_t cells = static_cast<size_t>(samples) * components;
        FloatBuffer logits(cells), means(cells * width), logScales(cells);
        FloatBuffer targets(static_cast<size_t>(samples) * width), loss(samples);
        logits.fill("data/logits.bin");
        means.fill("data/means.bin");
        logScales.fill("data/log_scales.bin");
        targets.fill("data/targets.bin");

        const int blocks = (samples + kWarpsPerBlock - 1) / kWarpsPerBlock;
        mixtureLoss<<<blocks, 32 * kWarpsPerBlock>>>(logits.get(), means.get(), logScales.get(), targets.get(),
                                                     loss.get(), samples, components, width);
        check(cudaGetLastError());
        loss.save("data/loss.bin");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
