#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <vector>

// Atom `a` of the projected target: every shifted atom gives it a share that falls linearly with the distance.
__device__ float targetAt(int a, const float* probs, float reward, float discount, float low, float high, int atoms) {
    const float width = (high - low) / (atoms - 1);
    float sum = 0.0f;
    for (int b = 0; b < atoms; ++b) {
        const float moved = fminf(fmaxf(reward + discount * (low + b * width), low), high);
        sum += probs[b] * fmaxf(0.0f, 1.0f - fabsf((moved - low) / width - a));
    }
    return sum;
}

__global__ void targetsKernel(const float* rewards, const float* discounts, const float* probs, float low, float high,
                              float* target, int samples, int atoms) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)samples * atoms) return;
    const size_t s = i / atoms;
    target[i] = targetAt(i % atoms, probs + s * atoms, rewards[s], discounts[s], low, high, atoms);
}

// One thread a sample; the gradient replaces the target.
__global__ void lossKernel(const float* logits, float* target, float* loss, int samples, int atoms) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= samples) return;
    const float* x = logits + (size_t)s * atoms;
    float* t = target + (size_t)s * atoms;
    float top = x[0], partition = 0.0f, mass = 0.0f, cross = 0.0f;
    for (int a = 1; a < atoms; ++a) top = fmaxf(top, x[a]);
    for (int a = 0; a < atoms; ++a) {
        partition += expf(x[a] - top);
        mass += t[a];
        cross += t[a] * (x[a] - top);
    }
    loss[s] = mass * logf(partition) - cross;
    for (int a = 0; a < atoms; ++a) t[a] = mass * expf(x[a] - top) / partition - t[a];
}

void require(bool condition, const char* message) {
    if (condition) return;
    std::cerr << message << std::endl;
    std::exit(1);
}

void cuda(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

std::vector<char> bytesOf(const char* path, size_t size) {
    std::vector<char> bytes(size);
    std::ifstream in(path, std::ios::binary);
    require(in.read(bytes.data(), size) && in.peek() == EOF, path);
    return bytes;
}

float* toDevice(const char* path, size_t count) {
    const auto bytes = bytesOf(path, count * sizeof(float));
    float* device = nullptr;
    cuda(cudaMalloc(&device, bytes.size()));
    cuda(cudaMemcpy(device, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    return device;
}

void toFile(const char* path, const float* device, size_t count) {
    std::vector<char> bytes(count * sizeof(float));
    cuda(cudaMemcpy(bytes.data(), device, bytes.size(), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(bytes.data(), bytes.size());
    out.close();
    require(out.good(), path);
}

int main() {
    const auto sizeBytes = bytesOf("data/sizes.bin", 2 * sizeof(int32_t));
    const auto* sizes = reinterpret_cast<const int32_t*>(sizeBytes.data());
    const int samples = sizes[0], atoms = sizes[1];
    require(samples >= 1 && samples <= 1000000 && atoms >= 2 && atoms <= 128, "data/sizes.bin: out of range");
    const auto ends = bytesOf("data/support.bin", 2 * sizeof(float));
    const float low = reinterpret_cast<const float*>(ends.data())[0];
    const float high = reinterpret_cast<const float*>(ends.data())[1];
    require(low < high, "data/support.bin: not ascending");
    const size_t cells = (size_t)samples * atoms;
    float* rewards = toDevice("data/rewards.bin", samples);
    float* discounts = toDevice("data/discounts.bin", samples);
    float* probs = toDevice("data/next_probs.bin", cells);
    float* logits = toDevice("data/logits.bin", cells);
    float *loss, *grad;
    cuda(cudaMalloc(&loss, samples * sizeof(float)));
    cuda(cudaMalloc(&grad, cells * sizeof(float)));
    const unsigned blocks = (unsigned)((cells + 255) / 256);
    targetsKernel<<<blocks, 256>>>(rewards, discounts, probs, low, high, grad, samples, atoms);
    cuda(cudaGetLastError());
    lossKernel<<<(samples + 255) / 256, 256>>>(logits, grad, loss, samples, atoms);
    cuda(cudaGetLastError());
    toFile("data/loss.bin", loss, samples);
    toFile("data/grad.bin", grad, cells);
    return 0;
}
