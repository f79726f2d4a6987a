#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define TRY(expression)                                                                              \
    do {                                                                                             \
        cudaError_t code_ = (expression);                                                            \
        if (code_ != cudaSuccess) {                                                                  \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code_));      \
            std::exit(2);                                                                            \
        }                                                                                            \
    } while (0)

namespace {

enum : int { THREADS = 128, MAX_ROWS = 65535, MAX_HALF = 32768, MAX_TAPS = 32 };

// One tap of the four filters together: low and high of tree A, low and high of tree B.
__constant__ float4 taps4[MAX_TAPS];

__global__ void analyze(const float* __restrict__ x, float* __restrict__ low, float* __restrict__ magnitude, int half,
                        int taps) {
    extern __shared__ float tile[];  // 2 * THREADS + taps samples
    const int length = 2 * half, start = blockIdx.x * THREADS;
    const size_t row = blockIdx.y;
    const float* signal = x + row * length;
    for (int k = threadIdx.x; k < 2 * THREADS + taps; k += THREADS) tile[k] = signal[(2 * start + k) % length];
    __syncthreads();

    const int i = start + threadIdx.x;
    if (i >= half) return;
    const float* mine = tile + 2 * threadIdx.x;
    float lowA = 0.0f, highA = 0.0f, lowB = 0.0f, highB = 0.0f;
    float now = mine[0];
    for (int k = 0; k < taps; ++k) {
        const float4 tap = taps4[k];
        const float next = mine[k + 1];  // tree B is one sample ahead
        lowA = fmaf(tap.x, now, lowA);
        highA = fmaf(tap.y, now, highA);
        lowB = fmaf(tap.z, next, lowB);
        highB = fmaf(tap.w, next, highB);
        now = next;
    }
    low[row * length + i] = lowA;
    low[row * length + half + i] = lowB;
    magnitude[row * half + i] = sqrtf(highA * highA + highB * highB);
}

// Host memory that the device can copy from and to without a detour.
float* pinned(size_t count) {
    float* pointer = nullptr;
    TRY(cudaMallocHost(&pointer, count * sizeof(float)));
    return pointer;
}

void fill(const char* path, void* into, size_t bytes) {
    std::FILE* file = std::fopen(path, "rb");
    if (file == nullptr || std::fread(into, 1, bytes, file) != bytes || std::fgetc(file) != EOF) {
        std::fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        std::exit(2);
    }
    std::fclose(file);
}

void dump(const char* path, const void* from, size_t bytes) {
    std::FILE* file = std::fopen(path, "wb");
    if (file == nullptr || std::fwrite(from, 1, bytes, file) != bytes || std::fclose(file) != 0) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(2);
    }
}

}  // namespace

int main() {
    int sizes[3];
    fill("data/sizes.bin", sizes, sizeof sizes);
    const int rows = sizes[0], half = sizes[1], taps = sizes[2];
    if (rows < 1 || rows > MAX_ROWS || half < 1 || half > MAX_HALF || taps < 2 || taps > MAX_TAPS) {
        std::fprintf(stderr, "data/sizes.bin: a size is out of range\n");
        return 2;
    }
    const size_t outputs = static_cast<size_t>(rows) * half, samples = 2 * outputs;
    float filters[4 * MAX_TAPS];
    fill("data/filters.bin", filters, 4 * taps * sizeof(float));
    float4 together[MAX_TAPS];
    for (int k = 0; k < taps; ++k) {
        together[k] = make_float4(filters[k], filters[taps + k], filters[2 * taps + k], filters[3 * taps + k]);
    }
    float *hostX = pinned(samples), *hostLow = pinned(samples), *hostMagnitude = pinned(outputs);
    fill("data/x.bin", hostX, samples * sizeof(float));

    float *x, *low, *magnitude;
    TRY(cudaMalloc(&x, samples * sizeof(float)));
    TRY(cudaMalloc(&low, samples * sizeof(float)));
    TRY(cudaMalloc(&magnitude, outputs * sizeof(float)));
    TRY(cudaMemcpyToSymbol(taps4, together, taps * sizeof(float4)));
    cudaStream_t stream;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMemcpyAsync(x, hostX, samples * sizeof(float), cudaMemcpyHostToDevice, stream));
    const dim3 grid((half + THREADS - 1) / THREADS, rows);
    analyze<<<grid, THREADS, (2 * THREADS + taps) * sizeof(float), stream>>>(x, low, magnitude, half, taps);
    TRY(cudaGetLastError());
    TRY(cudaMemcpyAsync(hostLow, low, samples * sizeof(float), cudaMemcpyDeviceToHost, stream));
    TRY(cudaMemcpyAsync(hostMagnitude, magnitude, outputs * sizeof(float), cudaMemcpyDeviceToHost, stream));
    TRY(cudaStreamSynchronize(stream));

    dump("data/low.bin", hostLow, samples * sizeof(float));
    dump("data/magnitude.bin", hostMagnitude, outputs * sizeof(float));
    TRY(cudaStreamDestroy(stream));
    TRY(cudaFree(x));
    TRY(cudaFree(low));
    TRY(cudaFree(magnitude));
    TRY(cudaFreeHost(hostX));
    TRY(cudaFreeHost(hostLow));
    TRY(cudaFreeHost(hostMagnitude));
    return 0;
}
