#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxPoints = 524288, kMinNeighbors = 3, kMaxNeighbors = 32;
constexpr int kThreads = 128, kSweeps = 8;

template <int P, int Q>
__device__ void rotate(double (&c)[3][3], double (&v)[3][3]) {
    if (c[P][Q] == 0.0) return;
    const double theta = (c[Q][Q] - c[P][P]) / (2.0 * c[P][Q]);
    const double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0));
    const double cosine = rsqrt(t * t + 1.0), sine = t * cosine;
    constexpr int R = 3 - P - Q;
    const double pr = c[P][R], qr = c[Q][R];
    c[P][P] -= t * c[P][Q];
    c[Q][Q] += t * c[P][Q];
    c[P][Q] = c[Q][P] = 0.0;
    c[P][R] = c[R][P] = cosine * pr - sine * qr;
    c[Q][R] = c[R][Q] = sine * pr + cosine * qr;
#pragma unroll
    for (int a = 0; a < 3; ++a) {
        const double p = v[a][P], q = v[a][Q];
        v[a][P] = cosine * p - sine * q;
        v[a][Q] = sine * p + cosine * q;
    }
}

__global__ void estimateNormals(const float* __restrict__ points, const int* __restrict__ neighbors, float3 viewpoint,
                                float* __restrict__ normals, float* __restrict__ variation, int n, int k) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    const int* list = neighbors + static_cast<size_t>(i) * k;
    double mean[3] = {};
    for (int j = 0; j < k; ++j) {
        for (int a = 0; a < 3; ++a) mean[a] += points[3 * list[j] + a];
    }
    for (double& m : mean) m /= k;
    double c[3][3] = {}, v[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int j = 0; j < k; ++j) {
        double d[3];
        for (int a = 0; a < 3; ++a) d[a] = points[3 * list[j] + a] - mean[a];
        for (int a = 0; a < 3; ++a) {
            for (int b = 0; b < 3; ++b) c[a][b] += d[a] * d[b] / k;
        }
    }
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
        rotate<0, 1>(c, v);
        rotate<0, 2>(c, v);
        rotate<1, 2>(c, v);
    }
    double least = c[0][0], nx = v[0][0], ny = v[1][0], nz = v[2][0];
    if (c[1][1] < least) least = c[1][1], nx = v[0][1], ny = v[1][1], nz = v[2][1];
    if (c[2][2] < least) least = c[2][2], nx = v[0][2], ny = v[1][2], nz = v[2][2];

    const double facing = (viewpoint.x - points[3 * i]) * nx + (viewpoint.y - points[3 * i + 1]) * ny +
                          (viewpoint.z - points[3 * i + 2]) * nz;
    const double sign = facing < 0.0 ? -1.0 : 1.0;
    normals[3 * i] = static_cast<float>(sign * nx);
    normals[3 * i + 1] = static_cast<float>(sign * ny);
    normals[3 * i + 2] = static_cast<float>(sign * nz);
    variation[i] = static_cast<float>(fmax(least, 0.0) / (c[0][0] + c[1][1] + c[2][2]));
}

static void ensure(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
std::vector<T> input(const std::string& path, size_t count) {
    std::ifstream stream(path, std::ios::binary);
    std::vector<T> values(count);
    stream.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!stream || stream.peek() != EOF) throw std::runtime_error(path + ": not the expected length");
    return values;
}

template <typename T>
T* copyToDevice(const std::vector<T>& host) {
    T* device = nullptr;
    ensure(cudaMalloc(&device, host.size() * sizeof(T)));
    ensure(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

void output(const std::string& path, const float* device, size_t count) {
    std::vector<float> host(count);
    ensure(cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(host.data()), count * sizeof(float)).flush();
    if (!stream) throw std::runtime_error(path + ": not written");
}

int main() {
    try {
        const auto sizes = input<int>("data/sizes.bin", 2);
        const int n = sizes[0], k = sizes[1];
        if (n < 1 || n > kMaxPoints || k < kMinNeighbors || k > kMaxNeighbors) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const auto points = input<float>("data/points.bin", 3 * static_cast<size_t>(n));
        const auto neighbors = input<int>("data/neighbors.bin", static_cast<size_t>(n) * k);
        const auto eye = input<float>("data/viewpoint.bin", 3);
        for (int j : neighbors) {
            if (j < 0 || j >= n) throw std::runtime_error("data/neighbors.bin: index out of range");
        }
        float *dPoints = copyToDevice(points), *dNormals = nullptr, *dVariation = nullptr;
        int* dNeighbors = copyToDevice(neighbors);
        ensure(cudaMalloc(&dNormals, points.size() * sizeof(float)));
        ensure(cudaMalloc(&dVariation, n * sizeof(float)));
        estimateNormals<<<(n + kThreads - 1) / kThreads, kThreads>>>(
            dPoints, dNeighbors, make_float3(eye[0], eye[1], eye[2]), dNormals, dVariation, n, k);
        ensure(cudaGetLastError());
        output("data/normals.bin", dNormals, points.size());
        output("data/variation.bin", dVariation, n);
        ensure(cudaFree(dPoints));
        ensure(cudaFree(dNeighbors));
        ensure(cudaFree(dNormals));
        ensure(cudaFree(dVariation));
    } catch (const std::exception& problem) {
        std::cerr << problem.what() << '\n';
        return 1;
    }
    return 0;
}
