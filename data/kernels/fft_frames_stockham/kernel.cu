#include <cuda_runtime.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxChannels = 256, kMaxFrames = 1024, kMaxLength = 2048, kMaxThreads = 256;

__global__ void stockham(const float2* __restrict__ z, float2* __restrict__ spectrum, int n) {
    extern __shared__ float2 buffers[];
    float2 *source = buffers, *target = buffers + n;
    const size_t frame = static_cast<size_t>(blockIdx.x) * n;
    const int half = n / 2;
    for (int t = threadIdx.x; t < n; t += blockDim.x) source[t] = z[frame + t];
    __syncthreads();
    for (int s = 1; s < n; s *= 2) {
        for (int j = threadIdx.x; j < half; j += blockDim.x) {
            const float2 a = source[j], b = source[j + half];
            const int q = j & (s - 1), p = j - q;
            float sine, cosine;
            sincospif(-2.0f * p / n, &sine, &cosine);
            const float2 difference = make_float2(a.x - b.x, a.y - b.y);
            target[2 * p + q] = make_float2(a.x + b.x, a.y + b.y);
            target[2 * p + q + s] = make_float2(difference.x * cosine - difference.y * sine,
                                                difference.x * sine + difference.y * cosine);
        }
        __syncthreads();
        float2* swapped = source;
        source = target;
        target = swapped;
    }
    for (int k = threadIdx.x; k < n; k += blockDim.x) spectrum[frame + k] = source[k];
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

static void readFile(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) throw std::runtime_error(path + ": wrong length");
    if (!in.seekg(0).read(static_cast<char*>(data), bytes)) throw std::runtime_error(path + ": cannot be read");
}

int main() {
    try {
        int sizes[3];
        readFile("data/sizes.bin", sizes, sizeof sizes);
        const int channels = sizes[0], frames = sizes[1], n = sizes[2];
        if (channels < 1 || channels > kMaxChannels || frames < 1 || frames > kMaxFrames) {
            throw std::runtime_error("data/sizes.bin: channels or frames out of range");
        }
        if (n < 2 || n > kMaxLength || (n & (n - 1)) != 0) {
            throw std::runtime_error("data/sizes.bin: n is no power of two from 2 to 2048");
        }
        const int count = channels * frames;
        std::vector<float2> z(static_cast<size_t>(count) * n);
        const size_t bytes = z.size() * sizeof(float2);
        readFile("data/z.bin", z.data(), bytes);

        float2 *dZ = nullptr, *dSpectrum = nullptr;
        check(cudaMalloc(&dZ, bytes), "allocate");
        check(cudaMalloc(&dSpectrum, bytes), "allocate");
        check(cudaMemcpy(dZ, z.data(), bytes, cudaMemcpyHostToDevice), "upload");
        stockham<<<count, std::min(kMaxThreads, n / 2), 2 * n * sizeof(float2)>>>(dZ, dSpectrum, n);
        check(cudaGetLastError(), "launch");
        check(cudaMemcpy(z.data(), dSpectrum, bytes, cudaMemcpyDeviceToHost), "download");
        check(cudaFree(dZ), "free");
        check(cudaFree(dSpectrum), "free");

        std::ofstream out("data/spectrum.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(z.data()), bytes);
        out.close();
        if (!out) throw std::runtime_error("data/spectrum.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
