#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 256;

__global__ void measure(const float* __restrict__ features, const int* __restrict__ labels,
                        const float* __restrict__ centers, float* __restrict__ loss, float* sums, int* counts,
                        int samples, int width) {
    const int i = (blockIdx.x * kThreads + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (i >= samples) return;
    const size_t center = static_cast<size_t>(labels[i]) * width;
    float squares = 0.0f;
    for (int d = lane; d < width; d += 32) {
        const float diff = features[static_cast<size_t>(i) * width + d] - centers[center + d];
        atomicAdd(&sums[center + d], diff);
        squares = fmaf(diff, diff, squares);
    }
    for (int step = 16; step > 0; step /= 2) squares += __shfl_down_sync(0xffffffffu, squares, step);
    if (lane == 0) {
        loss[i] = 0.5f * squares;
        atomicAdd(&counts[labels[i]], 1);
    }
}

__global__ void moveCenters(float* centers, const float* __restrict__ sums, const int* __restrict__ counts,
                            size_t cells, int width) {
    const size_t at = static_cast<size_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (at < cells) centers[at] += 0.5f * sums[at] / (1.0f + counts[at / width]);
}

static void die(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) die(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values.data(), sizeof(T), count, file) != count || std::fgetc(file) != EOF) die(path);
    std::fclose(file);
    return values;
}

template <typename T>
static T* upload(const std::vector<T>& values) {
    T* device;
    check(cudaMalloc(&device, values.size() * sizeof(T)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static void save(const char* path, const float* device, size_t count) {
    std::vector<float> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), sizeof(float), count, file) != count || std::fclose(file)) die(path);
}

int main() {
    const auto sizes = readFile<int32_t>("data/sizes.bin", 3);
    const int samples = sizes[0], classes = sizes[1], width = sizes[2];
    if (samples < 1 || samples > 500000 || classes < 1 || classes > 20000 || width < 1 || width > 512) {
        die("data/sizes.bin: out of range");
    }
    const size_t cells = static_cast<size_t>(classes) * width;
    const auto labels = readFile<int32_t>("data/labels.bin", samples);
    for (int label : labels) {
        if (label < 0 || label >= classes) die("data/labels.bin: no such class");
    }
    float* features = upload(readFile<float>("data/features.bin", static_cast<size_t>(samples) * width));
    float* centers = upload(readFile<float>("data/centers.bin", cells));
    int* dLabels = upload(labels);
    float* sums = upload(std::vector<float>(cells, 0.0f));
    int* counts = upload(std::vector<int>(classes, 0));
    float* loss;
    check(cudaMalloc(&loss, samples * sizeof(float)));

    const int perBlock = kThreads / 32;
    measure<<<(samples + perBlock - 1) / perBlock, kThreads>>>(features, dLabels, centers, loss, sums, counts, samples,
                                                               width);
    check(cudaGetLastError());
    moveCenters<<<static_cast<unsigned>((cells + kThreads - 1) / kThreads), kThreads>>>(centers, sums, counts, cells,
                                                                                        width);
    check(cudaGetLastError());
    save("data/loss.bin", loss, samples);
    save("data/new_centers.bin", centers, cells);
    for (float* p : {features, centers, sums, loss}) check(cudaFree(p));
    for (int* p : {dLabels, counts}) check(cudaFree(p));
    return 0;
}
