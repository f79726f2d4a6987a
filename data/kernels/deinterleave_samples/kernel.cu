#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxFrames = 4194304;  // times 64 channels still fits an int
constexpr int kMaxChannels = 64;
constexpr int kThreads = 256;  // also frames per block

__global__ void deinterleave(const int16_t* __restrict__ samples, float* __restrict__ planes, int frames, int channels,
                             int pitch) {
    extern __shared__ int16_t staged[];
    const int firstFrame = blockIdx.x * kThreads;
    const int owned = min(kThreads, frames - firstFrame);

    const int16_t* source = samples + firstFrame * channels;
    for (int e = threadIdx.x; e < owned * channels; e += kThreads) {
        staged[e / channels * pitch + e % channels] = source[e];
    }
    __syncthreads();

    if (threadIdx.x >= owned) return;
    float* target = planes + firstFrame + threadIdx.x;
    for (int c = 0; c < channels; ++c) {
        target[c * frames] = staged[threadIdx.x * pitch + c] * (1.0f / 32768.0f);
    }
}

class CudaError : public std::runtime_error {
public:
    explicit CudaError(cudaError_t status) : std::runtime_error(cudaGetErrorString(status)) {}
};

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw CudaError(status);
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) throw std::runtime_error("cannot open " + path);
    if (static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error("wrong length: " + path);
    std::vector<T> values(count);
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("cannot read " + path);
    }
    return values;
}

static std::vector<float> deinterleaveOnDevice(const std::vector<int16_t>& samples, int frames, int channels) {
    int16_t* dSamples = nullptr;
    float* dPlanes = nullptr;
    std::vector<float> planes(samples.size());
    check(cudaMalloc(&dSamples, samples.size() * sizeof(int16_t)));
    check(cudaMalloc(&dPlanes, planes.size() * sizeof(float)));
    check(cudaMemcpy(dSamples, samples.data(), samples.size() * sizeof(int16_t), cudaMemcpyHostToDevice));

    const int pitch = channels | 1;
    const size_t sharedBytes = kThreads * pitch * sizeof(int16_t);
    deinterleave<<<(frames + kThreads - 1) / kThreads, kThreads, sharedBytes>>>(dSamples, dPlanes, frames, channels,
                                                                                pitch);
    check(cudaGetLastError());
    check(cudaMemcpy(planes.data(), dPlanes, planes.size() * sizeof(float), cudaMemcpyDeviceToHost));
    check(cudaFree(dSamples));
    check(cudaFree(dPlanes));
    return planes;
}

int main() {
    try {
        const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
        const int frames = sizes[0], channels = sizes[1];
        if (frames < 1 || frames > kMaxFrames || channels < 1 || channels > kMaxChannels) {
            throw std::runtime_error("data/sizes.bin: frames or channels out of range");
        }
        const auto samples = readFile<int16_t>("data/samples.bin", static_cast<size_t>(frames) * channels);
        const std::vector<float> planes = deinterleaveOnDevice(samples, frames, channels);

        std::ofstream out("data/planes.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(planes.data()), planes.size() * sizeof(float));
        out.close();
        if (!out) throw std::runtime_error("cannot write data/planes.bin");
    } catch (const std::exception& error) {
        std::cerr << "error: " << error.what() << '\n';
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
