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

static const size_t N = 2500003;
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

int main() {
    float *hostIn = nullptr, *hostOut = nullptr;
    CHECK(cudaMallocHost(&hostIn, N * sizeof(float)));
    CHECK(cudaMallocHost(&hostOut, N * sizeof(float)));

    FILE* file = fopen("data/signal.bin", "rb");
    if (!file) {
        fprintf(stderr, "cannot open data/signal.bin\n");
        return 1;
    }
    size_t got = fread(hostIn, sizeof(float), N, file);
    bool longer = fgetc(file) != EOF;
    fclose(file);
    if (got != N || longer) {
        fprintf(stderr, "data/signal.bin does not hold exactly %zu floats\n", N);
        return 1;
    }

    float *devIn = nullptr, *devOut = nullptr;
    CHECK(cudaMalloc(&devIn, N * sizeof(float)));
    CHECK(cudaMalloc(&devOut, N * sizeof(float)));
    cudaStream_t streams[STREAMS];
    for (int s = 0; s < STREAMS; ++s) {
        CHECK(cudaStreamCreate(&streams[s]));
    }

    int chunkIndex = 0;
    for (size_t begin = 0; begin < N; begin += CHUNK, ++chunkIndex) {
        size_t count = std::min(CHUNK, N - begin);
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

    file = fopen("data/swish.bin", "wb");
    if (!file) {
        fprintf(stderr, "cannot open data/swish.bin\n");
        return 1;
    }
    size_t written = fwrite(hostOut, sizeof(float), N, file);
    bool closed = fclose(file) == 0;
    CHECK(cudaFree(devIn));
    CHECK(cudaFree(devOut));
    CHECK(cudaFreeHost(hostIn));
    CHECK(cudaFreeHost(hostOut));
    return written == N && closed ? 0 : 1;
}
