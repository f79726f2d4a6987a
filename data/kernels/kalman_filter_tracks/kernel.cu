#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxSteps = 4096, kMaxTracks = 262144;
constexpr int kThreads = 128;
constexpr int kState = 4, kMeasured = 2;

template <int Rows, int Cols>
struct Matrix {
    float at[Rows][Cols];
};

struct Model {
    Matrix<kState, kState> transition, processNoise, firstCovariance;
    Matrix<kMeasured, kMeasured> measurementNoise;
};

__constant__ Model model;

template <int N, int M, int P>
__device__ Matrix<N, P> operator*(const Matrix<N, M>& a, const Matrix<M, P>& b) {
    Matrix<N, P> c;
#pragma unroll
    for (int i = 0; i < N; ++i) {
#pragma unroll
        for (int j = 0; j < P; ++j) {
            float sum = 0.0f;
#pragma unroll
            for (int k = 0; k < M; ++k) sum += a.at[i][k] * b.at[k][j];
            c.at[i][j] = sum;
        }
    }
    return c;
}

template <int N, int M>
__device__ Matrix<M, N> transposed(const Matrix<N, M>& a) {
    Matrix<M, N> c;
#pragma unroll
    for (int e = 0; e < N * M; ++e) c.at[e % M][e / M] = a.at[e / M][e % M];
    return c;
}

template <int N, int M>
__device__ void addScaled(Matrix<N, M>& a, const Matrix<N, M>& b, float factor) {
#pragma unroll
    for (int e = 0; e < N * M; ++e) a.at[e / M][e % M] += factor * b.at[e / M][e % M];
}

// The upper left part of Rows x Cols.
template <int Rows, int Cols, int N, int M>
__device__ Matrix<Rows, Cols> corner(const Matrix<N, M>& a) {
    Matrix<Rows, Cols> c;
#pragma unroll
    for (int e = 0; e < Rows * Cols; ++e) c.at[e / Cols][e % Cols] = a.at[e / Cols][e % Cols];
    return c;
}

__device__ Matrix<2, 2> inverse(const Matrix<2, 2>& a) {
    const float scale = 1.0f / (a.at[0][0] * a.at[1][1] - a.at[0][1] * a.at[1][0]);
    return {{{a.at[1][1] * scale, -a.at[0][1] * scale}, {-a.at[1][0] * scale, a.at[0][0] * scale}}};
}

__global__ void filterTracks(const float* __restrict__ start, const float* __restrict__ measured,
                             const uint8_t* __restrict__ seen, float* __restrict__ states,
                             float* __restrict__ variances, int steps, int tracks) {
    const int track = blockIdx.x * kThreads + threadIdx.x;
    if (track >= tracks) return;
    const size_t pitch = tracks;

    Matrix<kState, 1> x;
#pragma unroll
    for (int i = 0; i < kState; ++i) x.at[i][0] = start[i * pitch + track];
    Matrix<kState, kState> P = model.firstCovariance;

    for (int step = 0; step < steps; ++step) {
        x = model.transition * x;
        P = model.transition * P * transposed(model.transition);
        addScaled(P, model.processNoise, 1.0f);

        if (seen[step * pitch + track] != 0) {
            Matrix<kMeasured, 1> innovation;
#pragma unroll
            for (int i = 0; i < kMeasured; ++i) {
                const float z = measured[(static_cast<size_t>(step) * kMeasured + i) * pitch + track];
                innovation.at[i][0] = z - x.at[i][0];
            }
            Matrix<kMeasured, kMeasured> S = corner<kMeasured, kMeasured>(P);
            addScaled(S, model.measurementNoise, 1.0f);
            const Matrix<kState, kMeasured> gain = corner<kState, kMeasured>(P) * inverse(S);
            addScaled(x, gain * innovation, 1.0f);
            addScaled(P, gain * corner<kMeasured, kState>(P), -1.0f);
        }
#pragma unroll
        for (int i = 0; i < kState; ++i) states[(static_cast<size_t>(step) * kState + i) * pitch + track] = x.at[i][0];
    }
#pragma unroll
    for (int i = 0; i < kState; ++i) variances[i * pitch + track] = P.at[i][i];
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    const std::streamsize bytes = count * sizeof(T);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes) throw std::runtime_error(path + ": wrong length");
    in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes);
    if (!in) throw std::runtime_error(path + ": cannot be read");
    return values;
}

template <typename T>
struct DeviceArray {
    explicit DeviceArray(size_t n) : count(n) { check(cudaMalloc(&data, count * sizeof(T))); }
    DeviceArray(const std::string& path, size_t n) : DeviceArray(n) {
        const std::vector<T> host = readFile<T>(path, count);
        check(cudaMemcpy(data, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    ~DeviceArray() { cudaFree(data); }

    void save(const std::string& path) const {
        std::vector<T> host(count);
        check(cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(host.data()), count * sizeof(T));
        out.close();
        if (!out) throw std::runtime_error(path + ": cannot be written");
    }

    T* data = nullptr;
    size_t count;
};

static void run() {
    const std::vector<int32_t> sizes = readFile<int32_t>("data/sizes.bin", 2);
    const int steps = sizes[0], tracks = sizes[1];
    if (steps < 1 || steps > kMaxSteps || tracks < 1 || tracks > kMaxTracks) {
        throw std::runtime_error("data/sizes.bin: steps or tracks out of range");
    }
    const std::vector<float> numbers = readFile<float>("data/model.bin", sizeof(Model) / sizeof(float));
    check(cudaMemcpyToSymbol(model, numbers.data(), sizeof(Model)));

    const size_t all = static_cast<size_t>(steps) * tracks;
    const DeviceArray<float> start("data/start.bin", static_cast<size_t>(kState) * tracks);
    const DeviceArray<float> measured("data/measured.bin", kMeasured * all);
    const DeviceArray<uint8_t> seen("data/seen.bin", all);
    const DeviceArray<float> states(kState * all), variances(static_cast<size_t>(kState) * tracks);
    filterTracks<<<(tracks + kThreads - 1) / kThreads, kThreads>>>(start.data, measured.data, seen.data, states.data,
                                                                   variances.data, steps, tracks);
    check(cudaGetLastError());
    states.save("data/states.bin");
    variances.save("data/variances.bin");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
