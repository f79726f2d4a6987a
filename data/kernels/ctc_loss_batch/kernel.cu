#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 128;
constexpr int kMaxLabels = 512;
constexpr int kMaxStates = 2 * kMaxLabels + 1;

__device__ float logSum(float a, float b, float c) {
    const float top = fmaxf(a, fmaxf(b, c));
    if (top == -INFINITY) return top;
    return top + logf(expf(a - top) + expf(b - top) + expf(c - top));
}

__global__ void ctcLoss(const float* __restrict__ logProbs, const int* __restrict__ targets,
                        const int* __restrict__ frameCount, const int* __restrict__ labelCount,
                        float* __restrict__ loss, int batch, int classes, int labels) {
    __shared__ float rows[2][kMaxStates];
    __shared__ int label[kMaxLabels];
    const int b = blockIdx.x;
    const int count = labelCount[b], states = 2 * count + 1, last = frameCount[b];
    for (int i = threadIdx.x; i < count; i += kThreads) label[i] = targets[static_cast<size_t>(b) * labels + i];
    __syncthreads();

    for (int t = 0; t < last; ++t) {
        const float* now = logProbs + (static_cast<size_t>(t) * batch + b) * classes;
        const float* before = rows[(t + 1) % 2];
        float* alpha = rows[t % 2];
        for (int s = threadIdx.x; s < states; s += kThreads) {
            const int c = s % 2 ? label[s / 2] : 0;
            float sum;
            if (t == 0) {
                sum = s < 2 ? 0.0f : -INFINITY;
            } else {
                const bool skip = s % 2 && s >= 3 && label[s / 2] != label[s / 2 - 1];
                sum = logSum(before[s], s > 0 ? before[s - 1] : -INFINITY, skip ? before[s - 2] : -INFINITY);
            }
            alpha[s] = sum + now[c];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        const float* alpha = rows[(last - 1) % 2];
        loss[b] = -logSum(alpha[states - 1], states > 1 ? alpha[states - 2] : -INFINITY, -INFINITY);
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static void require(bool good, const char* message) {
    if (!good) throw std::runtime_error(message);
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    require(in && in.peek() == EOF, path);
    return values;
}

template <typename T>
static T* upload(const std::vector<T>& host) {
    T* device = nullptr;
    check(cudaMalloc(&device, host.size() * sizeof(T)));
    check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    try {
        const auto sizes = readFile<int32_t>("data/sizes.bin", 4);
        const int frames = sizes[0], batch = sizes[1], classes = sizes[2], labels = sizes[3];
        require(frames >= 1 && frames <= 2048 && batch >= 1 && batch <= 4096, "sizes: frames or batch");
        require(classes >= 2 && classes <= 1024 && labels >= 1 && labels <= kMaxLabels, "sizes: classes or labels");
        const auto logProbs = readFile<float>("data/log_probs.bin", size_t(frames) * batch * classes);
        const auto targets = readFile<int32_t>("data/targets.bin", size_t(batch) * labels);
        const auto frameCount = readFile<int32_t>("data/frame_count.bin", batch);
        const auto labelCount = readFile<int32_t>("data/label_count.bin", batch);
        for (int label : targets) require(label >= 1 && label < classes, "targets: no such class");
        for (int n : frameCount) require(n >= 1 && n <= frames, "frame_count: out of range");
        for (int n : labelCount) require(n >= 0 && n <= labels, "label_count: out of range");

        float *dLogProbs = upload(logProbs), *dLoss = nullptr;
        int *dTargets = upload(targets), *dFrames = upload(frameCount), *dLabels = upload(labelCount);
        check(cudaMalloc(&dLoss, batch * sizeof(float)));
        ctcLoss<<<batch, kThreads>>>(dLogProbs, dTargets, dFrames, dLabels, dLoss, batch, classes, labels);
        check(cudaGetLastError());
        std::vector<float> loss(batch);
        check(cudaMemcpy(loss.data(), dLoss, batch * sizeof(float), cudaMemcpyDeviceToHost));
        for (int* p : {dTargets, dFrames, dLabels}) check(cudaFree(p));
        check(cudaFree(dLogProbs));
        check(cudaFree(dLoss));

        std::ofstream out("data/loss.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(loss.data()), loss.size() * sizeof(float));
        out.close();
        require(bool(out), "data/loss.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
