#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

constexpr int kThreads = 256;

__global__ void average(float* shadow, const __half* __restrict__ weights, __half* __restrict__ copy, int count,
                        float keep, float blend) {
    const int first = blockIdx.x * kThreads + threadIdx.x;
    for (int i = first; i < count / 2; i += gridDim.x * kThreads) {
        const float2 w = __half22float2(reinterpret_cast<const __half2*>(weights)[i]);
        float2 s = reinterpret_cast<float2*>(shadow)[i];
        s.x = keep * s.x + blend * w.x;
        s.y = keep * s.y + blend * w.y;
        reinterpret_cast<float2*>(shadow)[i] = s;
        reinterpret_cast<__half2*>(copy)[i] = __floats2half2_rn(s.x, s.y);
    }
    if (first == 0 && count % 2 == 1) {
        const int last = count - 1;
        shadow[last] = keep * shadow[last] + blend * __half2float(weights[last]);
        copy[last] = __float2half_rn(shadow[last]);
    }
}

#define TRY(call)                                                                    \
    do {                                                                             \
        const cudaError_t code_ = (call);                                            \
        if (code_ != cudaSuccess) {                                                  \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code_));      \
            std::exit(1);                                                            \
        }                                                                            \
    } while (0)

static void stop(const char* path) {
    std::fprintf(stderr, "%s: cannot be read or written as expected\n", path);
    std::exit(1);
}

static void readInto(const char* path, void* data, size_t bytes) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(data, 1, bytes, file) != bytes || std::fgetc(file) != EOF) stop(path);
    std::fclose(file);
}

static void writeFrom(const char* path, const void* data, size_t bytes) {
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(data, 1, bytes, file) != bytes || std::fclose(file) != 0) stop(path);
}

int main() {
    int32_t sizes[2];
    readInto("data/sizes.bin", sizes, sizeof sizes);
    const int count = sizes[0], step = sizes[1];
    if (count < 2 || count > 16000000 || step < 1 || step > 1000000) stop("data/sizes.bin");
    const double decay = std::min(0.999, (1.0 + step) / (10.0 + step));

    float *shadow, *dShadow;
    __half *weights, *copy, *dWeights, *dCopy;
    TRY(cudaMallocHost(&shadow, count * sizeof(float)));
    TRY(cudaMallocHost(&weights, count * sizeof(__half)));
    TRY(cudaMallocHost(&copy, count * sizeof(__half)));
    TRY(cudaMalloc(&dShadow, count * sizeof(float)));
    TRY(cudaMalloc(&dWeights, count * sizeof(__half)));
    TRY(cudaMalloc(&dCopy, count * sizeof(__half)));
    readInto("data/shadow.bin", shadow, count * sizeof(float));
    readInto("data/weights.bin", weights, count * sizeof(__half));

    const int border = count / 4 * 2;  // even, so that both parts begin on a pair
    cudaStream_t streams[2];
    for (int part = 0; part < 2; ++part) {
        const int begin = part == 0 ? 0 : border, n = part == 0 ? border : count - border;
        TRY(cudaStreamCreate(&streams[part]));
        if (n == 0) continue;
        const cudaStream_t stream = streams[part];
        TRY(cudaMemcpyAsync(dShadow + begin, shadow + begin, n * sizeof(float), cudaMemcpyHostToDevice, stream));
        TRY(cudaMemcpyAsync(dWeights + begin, weights + begin, n * sizeof(__half), cudaMemcpyHostToDevice, stream));
        const int blocks = std::min(1024, (n / 2 + kThreads) / kThreads);
        average<<<blocks, kThreads, 0, stream>>>(dShadow + begin, dWeights + begin, dCopy + begin, n,
                                                 static_cast<float>(decay), static_cast<float>(1.0 - decay));
        TRY(cudaGetLastError());
        TRY(cudaMemcpyAsync(shadow + begin, dShadow + begin, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
        TRY(cudaMemcpyAsync(copy + begin, dCopy + begin, n * sizeof(__half), cudaMemcpyDeviceToHost, stream));
    }
    for (cudaStream_t stream : streams) {
        TRY(cudaStreamSynchronize(stream));
        TRY(cudaStreamDestroy(stream));
    }
    writeFrom("data/new_shadow.bin", shadow, count * sizeof(float));
    writeFrom("data/export.bin", copy, count * sizeof(__half));
    TRY(cudaFreeHost(shadow));
    TRY(cudaFreeHost(weights));
    TRY(cudaFreeHost(copy));
    TRY(cudaFree(dShadow));
    TRY(cudaFree(dWeights));
    TRY(cudaFree(dCopy));
    return 0;
}
