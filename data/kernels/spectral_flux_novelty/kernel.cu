#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kWarps = 8, kTile = 256, kMaxReach = 64;

__device__ float rise(float before, float now) { return fmaxf(now - before, 0.0f); }

// Warp per frame: the sum over the bins of what grew since the frame before.
__global__ void __launch_bounds__(32 * kWarps) sumRises(const __half* __restrict__ spectrum, float* __restrict__ flux,
                                                        int frames, int bins) {
    const int frame = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (frame >= frames) return;
    const size_t at = static_cast<size_t>(blockIdx.y) * frames + frame;
    float sum = 0.0f;
    if (frame > 0 && bins % 2 == 0) {
        const auto* now = reinterpret_cast<const __half2*>(spectrum + at * bins);
        const __half2* before = now - bins / 2;
        for (int k = lane; k < bins / 2; k += 32) {
            const float2 b = __half22float2(before[k]), n = __half22float2(now[k]);
            sum += rise(b.x, n.x) + rise(b.y, n.y);
        }
    } else if (frame > 0) {  // rows of odd length do not start at a multiple of four bytes
        const __half* now = spectrum + at * bins;
        for (int k = lane; k < bins; k += 32) sum += rise(__half2float(now[k - bins]), __half2float(now[k]));
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) flux[at] = sum;
}

// Thread per frame: what stands out of the mean over the frames within `reach`.
__global__ void __launch_bounds__(kTile) subtractMean(const float* __restrict__ flux, float* __restrict__ novelty,
                                                      int frames, int reach) {
    __shared__ float tile[kTile + 2 * kMaxReach];
    const float* row = flux + static_cast<size_t>(blockIdx.y) * frames;
    const int start = blockIdx.x * kTile - reach;
    for (int k = threadIdx.x; k < kTile + 2 * reach; k += kTile) {
        const int t = start + k;
        tile[k] = t >= 0 && t < frames ? row[t] : 0.0f;
    }
    __syncthreads();
    const int t = blockIdx.x * kTile + threadIdx.x;
    if (t >= frames) return;
    float sum = 0.0f;
    for (int k = 0; k <= 2 * reach; ++k) sum += tile[threadIdx.x + k];
    const int present = min(t + reach, frames - 1) - max(t - reach, 0) + 1;
    const float mean = sum / static_cast<float>(present);
    novelty[static_cast<size_t>(blockIdx.y) * frames + t] = fmaxf(tile[threadIdx.x + reach] - mean, 0.0f);
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
    const dim3 byWarp((frames + kWarps - 1) / kWarps, tracks), byThread((frames + kTile - 1) / kTile, tracks);
    sumRises<<<byWarp, 32 * kWarps>>>(spectrum.as<__half>(), flux.as<float>(), frames, bins);
    Buffer::check(cudaGetLastError());
    subtractMean<<<byThread, kTile>>>(flux.as<float>(), novelty.as<float>(), frames, reach);
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
