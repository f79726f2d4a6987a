#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 128, kMaxReach = 64;

__device__ float rise(float before, float now) { return fmaxf(now - before, 0.0f); }

// The sum over the bins of what grew since the frame before.
__global__ void sumRises(const __half* spectrum, float* flux, int frames, int bins) {
    const int frame = blockIdx.x * kThreads + threadIdx.x;
    if (frame >= frames) return;
    const size_t at = static_cast<size_t>(blockIdx.y) * frames + frame;
    const __half* now = spectrum + at * bins;
    float sum = 0.0f;
    for (int k = 0; k < bins && frame > 0; ++k) sum += rise(__half2float(now[k - bins]), __half2float(now[k]));
    flux[at] = sum;
}

// What stands out of the mean over the frames within `reach`.
__global__ void subtractMean(const float* flux, float* novelty, int frames, int reach) {
    const int frame = blockIdx.x * kThreads + threadIdx.x;
    if (frame >= frames) return;
    const float* row = flux + static_cast<size_t>(blockIdx.y) * frames;
    const int first = max(frame - reach, 0), last = min(frame + reach, frames - 1);
    float sum = 0.0f;
    for (int t = first; t <= last; ++t) sum += row[t];
    const float mean = sum / static_cast<float>(last - first + 1);
    novelty[static_cast<size_t>(blockIdx.y) * frames + frame] = fmaxf(row[frame] - mean, 0.0f);
}

class Buffer {
  public:
    explicit Buffer(size_t bytes) : size(bytes) { check(cudaMalloc(&pointer, bytes)); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { cudaFree(pointer); }

    static void check(cudaError_t status) {
        if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
    }
    template <typename T>
    T* as() const {
        return static_cast<T*>(pointer);
    }
    void readFrom(const std::string& path) {
        const std::vector<char> bytes = contents(path, size);
        check(cudaMemcpy(pointer, bytes.data(), size, cudaMemcpyHostToDevice));
    }
    void writeTo(const std::string& path) const {
        std::vector<char> bytes(size);
        check(cudaMemcpy(bytes.data(), pointer, size, cudaMemcpyDeviceToHost));
        std::ofstream file(path, std::ios::binary);
        if (!file.write(bytes.data(), size) || !file.flush()) throw std::runtime_error("cannot write " + path);
    }
    static std::vector<char> contents(const std::string& path, size_t expected) {
        std::ifstream file(path, std::ios::binary);
        std::vector<char> bytes(expected);
        file.read(bytes.data(), expected);
        if (static_cast<size_t>(file.gcount()) != expected || file.peek() != EOF) {
            throw std::runtime_error(path + " has not the expected length");
        }
        return bytes;
    }

  private:
    void* pointer = nullptr;
    size_t size;
};

static void run() {
    const auto header = Buffer::contents("data/sizes.bin", 4 * sizeof(int));
    const int* sizes = reinterpret_cast<const int*>(header.data());
    const int tracks = sizes[0], frames = sizes[1], bins = sizes[2], reach = sizes[3];
    if (tracks < 1 || tracks > 1024 || frames < 2 || frames > 65536 || bins < 1 || bins > 4096 || reach < 1 ||
        reach > kMaxReach) {
        throw std::runtime_error("data/sizes.bin is out of range");
    }
    const size_t count = static_cast<size_t>(tracks) * frames;
    Buffer spectrum(count * bins * sizeof(__half)), flux(count * sizeof(float)), novelty(count * sizeof(float));
    spectrum.readFrom("data/spectrum.bin");
    const dim3 grid((frames + kThreads - 1) / kThreads, tracks);
    sumRises<<<grid, kThreads>>>(spectrum.as<__half>(), flux.as<float>(), frames, bins);
    Buffer::check(cudaGetLastError());
    subtractMean<<<grid, kThreads>>>(flux.as<float>(), novelty.as<float>(), frames, reach);
    Buffer::check(cudaGetLastError());
    flux.writeTo("data/flux.bin");
    novelty.writeTo("data/novelty.bin");
}

int main() {
    try {
        run();
    } catch (const std::exception& problem) {
        std::cerr << problem.what() << std::endl;
        return 1;
    }
    return 0;
}
