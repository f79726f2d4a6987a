#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <vector>

__global__ void measure(const float* features, const int* labels, const float* centers, float* loss, int samples,
                        int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples) return;
    float sum = 0;
    for (int d = 0; d < width; ++d) {
        float diff = features[(size_t)i * width + d] - centers[(size_t)labels[i] * width + d];
        sum += diff * diff;
    }
    loss[i] = sum / 2;
}

// A thread looks through all samples for those of its class.
__global__ void move(const float* features, const int* labels, const float* centers, float* newCenters, int samples,
                     int classes, int width) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= classes * width) return;
    int c = at / width, d = at % width, count = 0;
    float sum = 0;
    for (int i = 0; i < samples; ++i) {
        if (labels[i] != c) continue;
        sum += features[(size_t)i * width + d] - centers[at];
        ++count;
    }
    newCenters[at] = centers[at] + 0.5f * sum / (1 + count);
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
std::vector<T> read(const char* path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)v.data(), count * sizeof(T)) || in.peek() != EOF) throw std::runtime_error(path);
    return v;
}

template <typename T>
T* upload(const std::vector<T>& v) {
    T* p;
    check(cudaMalloc(&p, v.size() * sizeof(T)));
    check(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

void write(const char* path, const float* device, size_t count) {
    std::vector<float> v(count);
    check(cudaMemcpy(v.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    if (!out.write((char*)v.data(), count * sizeof(float)).flush()) throw std::runtime_error(path);
}

int main() {
    try {
        auto sizes = read<int>("data/sizes.bin", 3);
        int samples = sizes[0], classes = sizes[1], width = sizes[2];
        if (samples < 1 || samples > 500000 || classes < 1 || classes > 20000 || width < 1 || width > 512) {
            throw std::runtime_error("sizes out of range");
        }
        auto labels = read<int>("data/labels.bin", samples);
        for (int c : labels) {
            if (c < 0 || c >= classes) throw std::runtime_error("no such class");
        }
        int cells = classes * width;
        float* features = upload(read<float>("data/features.bin", (size_t)samples * width));
        float* centers = upload(read<float>("data/centers.bin", cells));
        int* dLabels = upload(labels);
        float *loss, *newCenters;
        check(cudaMalloc(&loss, samples * sizeof(float)));
        check(cudaMalloc(&newCenters, cells * sizeof(float)));
        measure<<<(samples + 127) / 128, 128>>>(features, dLabels, centers, loss, samples, width);
        check(cudaGetLastError());
        move<<<(cells + 127) / 128, 128>>>(features, dLabels, centers, newCenters, samples, classes, width);
        check(cudaGetLastError());
        write("data/loss.bin", loss, samples);
        write("data/new_centers.bin", newCenters, cells);
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
    return 0;
}
