#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kThreads = 128;

struct Box {
    double side[3];
};

// The shortest difference between two coordinates in a periodic box.
__device__ double nearest(double difference, double side) { return difference - side * rint(difference / side); }

// 8 P4 and 16 P6 as polynomials of the squared cosine.
__device__ double legendre4(double s) { return (35.0 * s - 30.0) * s + 3.0; }
__device__ double legendre6(double s) { return ((231.0 * s - 315.0) * s + 105.0) * s - 5.0; }

// The unit vector from a particle to another one.
__device__ void direction(const float* position, int from, int to, const Box& box, double* unit) {
    double square = 0.0;
    for (int d = 0; d < 3; ++d) {
        const double here = position[3 * static_cast<size_t>(from) + d];
        unit[d] = nearest(position[3 * static_cast<size_t>(to) + d] - here, box.side[d]);
        square += unit[d] * unit[d];
    }
    for (int d = 0; d < 3; ++d) unit[d] /= sqrt(square);
}

__global__ void bondOrder(const float* position, const int* list, float2* q, int* bonds, Box box, int particles,
                          int neighbors) {
    const int particle = blockIdx.x * blockDim.x + threadIdx.x;
    if (particle >= particles) return;
    const int* own = list + static_cast<size_t>(particle) * neighbors;
    double four = 0.0, six = 0.0, a[3], b[3];
    int count = 0;
    for (int i = 0; i < neighbors; ++i) {
        if (own[i] < 0) continue;
        ++count;
        direction(position, particle, own[i], box, a);
        for (int j = 0; j < neighbors; ++j) {
            if (own[j] < 0) continue;
            direction(position, particle, own[j], box, b);
            const double cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            four += legendre4(cosine * cosine);
            six += legendre6(cosine * cosine);
        }
    }
    const double pairs = count > 0 ? static_cast<double>(count) * count : 1.0;
    q[particle] = make_float2(static_cast<float>(sqrt(fmax(four / (8.0 * pairs), 0.0))),
                              static_cast<float>(sqrt(fmax(six / (16.0 * pairs), 0.0))));
    bonds[particle] = count;
}

static void stop(const char* where, const char* why) {
    std::fprintf(stderr, "%s: %s\n", where, why);
    std::exit(1);
}

static void gpu(cudaError_t status, const char* where) {
    if (status != cudaSuccess) stop(where, cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> take(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    const std::streamsize bytes = count * sizeof(T);
    if (!file.read(reinterpret_cast<char*>(values.data()), bytes)) stop(path, "missing or too short");
    if (file.get() != EOF) stop(path, "too long");
    return values;
}

template <typename T>
static T* copyToDevice(const std::vector<T>& values) {
    T* device;
    gpu(cudaMalloc(&device, values.size() * sizeof(T)), "cudaMalloc");
    gpu(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return device;
}

template <typename T>
static void give(const char* path, const T* device, size_t count) {
    std::vector<T> values(count);
    gpu(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), path);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), count * sizeof(T));
    file.close();
    if (!file) stop(path, "cannot be written");
}

int main() {
    const auto sizes = take<int>("data/sizes.bin", 2);
    const int particles = sizes[0], neighbors = sizes[1];
    if (particles < 2 || particles > 1000000) stop("data/sizes.bin", "particles out of range");
    if (neighbors < 1 || neighbors > 32) stop("data/sizes.bin", "neighbors out of range");
    const auto sides = take<double>("data/box.bin", 3);
    const Box box = {{sides[0], sides[1], sides[2]}};
    const auto list = take<int>("data/list.bin", static_cast<size_t>(particles) * neighbors);
    for (int other : list) {
        if (other < -1 || other >= particles) stop("data/list.bin", "an entry is out of range");
    }
    float* position = copyToDevice(take<float>("data/position.bin", 3 * static_cast<size_t>(particles)));
    int* dList = copyToDevice(list);
    float2* q;
    int* bonds;
    gpu(cudaMalloc(&q, particles * sizeof(float2)), "cudaMalloc");
    gpu(cudaMalloc(&bonds, particles * sizeof(int)), "cudaMalloc");

    const int blocks = (particles + kThreads - 1) / kThreads;
    bondOrder<<<blocks, kThreads>>>(position, dList, q, bonds, box, particles, neighbors);
    gpu(cudaGetLastError(), "bondOrder");
    give("data/q.bin", q, particles);
    give("data/bonds.bin", bonds, particles);
    gpu(cudaFree(position), "cudaFree");
    gpu(cudaFree(dList), "cudaFree");
    gpu(cudaFree(q), "cudaFree");
    gpu(cudaFree(bonds), "cudaFree");
    return 0;
}
