#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxSamples = 1 << 22, kMaxWindow = 2048, kMaxHop = 2048;
constexpr int kThreads = 256, kMaxBlocks = 4096;

__global__ void spectrogram(const float* __restrict__ x, float* __restrict__ power, int frames, int window, int hop) {
    extern __shared__ float2 table[];
    float* frame = reinterpret_cast<float*>(table + window);
    for (int j = threadIdx.x; j < window; j += kThreads) {
        double sine, cosine;
        sincospi(2.0 * j / window, &sine, &cosine);
        table[j] = make_float2(static_cast<float>(cosine), static_cast<float>(sine));
    }
    const int bins = window / 2 + 1;
    for (int f = blockIdx.x; f < frames; f += gridDim.x) {
        __syncthreads();  // the table is complete, and the last frame is no longer read
        const float* samples = x + static_cast<size_t>(f) * hop;
        for (int t = threadIdx.x; t < window; t += kThreads) frame[t] = samples[t] * (0.5f - 0.5f * table[t].x);
        __syncthreads();
        for (int k = threadIdx.x; k < bins; k += kThreads) {
            float real = 0.0f, imaginary = 0.0f;
            int j = 0;
            for (int t = 0; t < window; ++t) {
                real += frame[t] * table[j].x;
                imaginary += frame[t] * table[j].y;
                j += k;
                if (j >= window) j -= window;
            }
            power[static_cast<size_t>(f) * bins + k] = real * real + imaginary * imaginary;
        }
    }
}

#define CHECK(call)                                                                       \
    do {                                                                                  \
        const cudaError_t status = (call);                                                \
        if (status != cudaSuccess) {                                                      \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));          \
            std::exit(EXIT_FAILURE);                                                      \
        }                                                                                 \
    } while (0)

static void readFile(const char* path, void* data, std::streamsize bytes) {
    std::ifstream in(path, std::ios::binary);
    in.read(static_cast<char*>(data), bytes);
    if (in.gcount() != bytes || in.get() != EOF) {
        std::fprintf(stderr, "%s: expected %lld bytes\n", path, static_cast<long long>(bytes));
        std::exit(EXIT_FAILURE);
    }
}

int main() {
    int sizes[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int n = sizes[0], window = sizes[1], hop = sizes[2];
    if (n < 2 || n > kMaxSamples || window < 2 || window > kMaxWindow || window > n || hop < 1 || hop > kMaxHop) {
        std::fprintf(stderr, "data/sizes.bin: n %d, window %d, hop %d are out of range\n", n, window, hop);
        return EXIT_FAILURE;
    }
    std::vector<float> x(n);
    readFile("data/x.bin", x.data(), n * sizeof(float));
    const int frames = (n - window) / hop + 1;
    const size_t results = static_cast<size_t>(frames) * (window / 2 + 1);

    float *dX = nullptr, *dPower = nullptr;
    CHECK(cudaMalloc(&dX, n * sizeof(float)));
    CHECK(cudaMalloc(&dPower, results * sizeof(float)));
    CHECK(cudaMemcpy(dX, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    const int blocks = frames < kMaxBlocks ? frames : kMaxBlocks;
    spectrogram<<<blocks, kThreads, window * (sizeof(float2) + sizeof(float))>>>(dX, dPower, frames, window, hop);
    CHECK(cudaGetLastError());
    std::vector<float> power(results);
    CHECK(cudaMemcpy(power.data(), dPower, results * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dX));
    CHECK(cudaFree(dPower));

    std::ofstream out("data/power.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(power.data()), results * sizeof(float));
    out.close();
    if (!out) {
        std::fprintf(stderr, "data/power.bin: cannot be written\n");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
