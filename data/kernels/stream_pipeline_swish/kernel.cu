#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#define CHECK(expr)                                                               \
    do {                                                                          \
        cudaError_t err_ = (expr);                                                \
        if (err_ != cudaSuccess) {                                                \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(err_)); \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

static const int MAX_N = 67108864;
static const size_t CHUNK = 262144;
static const int STREAMS = 4;
static const int THREADS = 256;

__global__ void swishKernel(const float* __restrict__ in, float* __restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = in[i];
        out[i] = v / (1.0f + expf(-1.702f * v));
    }
}

static void readExactly(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(1);
    }
    size_t got = fread(target, 1, bytes, file);
    bool longer = fgetc(file) != EOF;
    fclose(file);
    if (got != bytes || longer) {
        fprintf(stderr, "%s does not hold exactly %zu bytes\n", path, bytes);
        exit(1);
    }
}

int main() {
    int size = 0;
    readExactly("data/sizes.bin", &size, sizeof(size));
    if (size < 1 || size > MAX_N) {
        fprintf(stderr, "data/sizes.bin: n = %d is not in 1..%d\n", size, MAX_N);
        return 1;
    }
    const size_t n = size;
    float *hostIn = nullptr, *hostOut = nullptr;
    CHECK(cudaMallocHost(&hostIn, n * sizeof(float)));
    CHECK(cudaMallocHost(&hostOut, n * sizeof(float)));
    readExactly("data/signal.bin", hostIn, n * sizeof(float));

    float *devIn = nullptr, *devOut = nullptr;
    CHECK(cudaMalloc(&devIn, n * sizeof(float)));
    CHECK(cudaMalloc(&devOut, n * sizeof(float)));
    cudaStream_t streams[STREAMS];
    for (int s = 0; s < STREAMS; ++s) {
        CHECK(cudaStreamCreate(&streams[s]));
    }

    int chunkIndex = 0;
    for (size_t begin = 0; begin < n; begin += CHUNK, ++chunkIndex) {
        size_t count = std::min(CHUNK, n - begin);
        size_t bytes = count * sizeof(float);
        cudaStream_t stream = streams[chunkIndex % STREAMS];
        int blocks = (int)((count + THREADS - 1) / THREADS);
        CHECK(cudaMemcpyAsync(devIn + begin, hostIn + begin, bytes, cudaMemcpyHostToDevice, stream));
        swishKernel<<<blocks, THREADS, 0, stream>>>(devIn + begin, devOut + begin, (int)count);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(hostOut + begin, devOut + begin, bytes, cudaMemcpyDeviceToHost, stream));
    }
    for (int s = 0; s < STREAMS; ++s) {
        CHECK(cudaStreamSynchronize(streams[s]));
        CHECK(cudaStreamDestroy(streams[s]));
    }

    FILE* file = fopen("data/swish.bin", "wb");
    if (!file) {
        fprintf(stderr, "cannot open data/swish.bin\n");
        return 1;
    }
    size_t written = fwrite(hostOut, sizeof(float), n, file);
    bool closed = fclose(file) == 0;
    CHECK(cudaFree(devIn));
    CHECK(cudaFree(devOut));
    CHECK(cudaFreeHost(hostIn));
    CHECK(cudaFreeHost(hostOut));
    return written == n && closed ? 0 : 1;
}
