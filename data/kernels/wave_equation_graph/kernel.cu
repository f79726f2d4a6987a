#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#define CUDA_CHECK(call)                                                                         \
    do {                                                                                         \
        cudaError_t status_ = (call);                                                            \
        if (status_ != cudaSuccess) {                                                            \
            fprintf(stderr, "%s (line %d): %s\n", #call, __LINE__, cudaGetErrorString(status_)); \
            exit(1);                                                                             \
        }                                                                                        \
    } while (0)

constexpr int MIN_SIDE = 3, MAX_SIDE = 8192;
constexpr int MAX_STEPS = 2000;

// Replaces u_{n-1} in `old` by u_{n+1}; `now` holds u_n.
__global__ void waveStep(float* __restrict__ old, const float* __restrict__ now, const float* __restrict__ courant2,
                         int height, int width) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || i >= height - 1 || j < 1 || j >= width - 1) return;
    const int k = i * width + j;
    const float centre = now[k];
    const float laplacian = now[k - width] + now[k + width] + now[k - 1] + now[k + 1] - 4.0f * centre;
    old[k] = 2.0f * centre - old[k] + courant2[k] * laplacian;
}

template <typename T>
static std::vector<T> readArray(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    bool exact = file && fread(values.data(), sizeof(T), count, file) == count && fgetc(file) == EOF;
    if (file) fclose(file);
    if (!exact) {
        fprintf(stderr, "%s: expected %zu values of %zu bytes\n", path, count, sizeof(T));
        exit(1);
    }
    return values;
}

int main() {
    const std::vector<int> sizes = readArray<int>("data/sizes.bin", 3);
    const int height = sizes[0], width = sizes[1], steps = sizes[2];
    const bool sides = height >= MIN_SIDE && height <= MAX_SIDE && width >= MIN_SIDE && width <= MAX_SIDE;
    if (!sides || steps < 1 || steps > MAX_STEPS) {
        fprintf(stderr, "data/sizes.bin: %d x %d points, %d steps: out of range\n", height, width, steps);
        return 1;
    }
    const size_t points = static_cast<size_t>(height) * width;
    const size_t bytes = points * sizeof(float);
    std::vector<float> start = readArray<float>("data/start.bin", points);
    const std::vector<float> speed = readArray<float>("data/courant2.bin", points);

    float *a, *b, *courant2;
    CUDA_CHECK(cudaMalloc(&a, bytes));
    CUDA_CHECK(cudaMalloc(&b, bytes));
    CUDA_CHECK(cudaMalloc(&courant2, bytes));
    CUDA_CHECK(cudaMemcpy(a, start.data(), bytes, cudaMemcpyHostToDevice));  // u_{-1}
    CUDA_CHECK(cudaMemcpy(b, start.data(), bytes, cudaMemcpyHostToDevice));  // u_0
    CUDA_CHECK(cudaMemcpy(courant2, speed.data(), bytes, cudaMemcpyHostToDevice));

    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t twoSteps;
    const dim3 block(32, 8);
    const dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaDeviceSynchronize());  // the copies above ran on the default stream

    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    waveStep<<<grid, block, 0, stream>>>(a, b, courant2, height, width);  // odd steps end in a
    waveStep<<<grid, block, 0, stream>>>(b, a, courant2, height, width);  // even steps end in b
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiateWithFlags(&twoSteps, graph, 0));

    for (int n = 0; n < steps / 2; ++n) {
        CUDA_CHECK(cudaGraphLaunch(twoSteps, stream));
    }
    const bool odd = steps % 2 != 0;
    if (odd) {
        waveStep<<<grid, block, 0, stream>>>(a, b, courant2, height, width);
        CUDA_CHECK(cudaGetLastError());
    }
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaMemcpy(start.data(), odd ? a : b, bytes, cudaMemcpyDeviceToHost));

    CUDA_CHECK(cudaGraphExecDestroy(twoSteps));
    CUDA_CHECK(cudaGraphDestroy(graph));
    CUDA_CHECK(cudaStreamDestroy(stream));
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
    CUDA_CHECK(cudaFree(courant2));

    std::ofstream out("data/field.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(start.data()), bytes);
    out.close();
    if (!out) {
        fprintf(stderr, "data/field.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
