#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxRows = 65535, kMaxLength = 1 << 20;
constexpr int kThreads = 256, kWarps = kThreads / 32, kItems = 4;
constexpr unsigned kAll = 0xFFFFFFFFu;

struct Affine {  // y -> a * y + b
    float a, b;
};

__device__ Affine then(Affine first, Affine second) {
    return {first.a * second.a, second.a * first.b + second.b};
}

__global__ void smoothRows(const float* __restrict__ x, const float* __restrict__ decay, float* __restrict__ y,
                           int n) {
    __shared__ Affine totals[kWarps];
    __shared__ float carry;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t row = static_cast<size_t>(blockIdx.x) * n;
    const float d = decay[blockIdx.x];
    if (threadIdx.x == 0) carry = 0.0f;

    for (int begin = 0; begin < n; begin += kThreads * kItems) {
        const int first = begin + threadIdx.x * kItems;
        Affine step[kItems], own = {1.0f, 0.0f};
        for (int k = 0; k < kItems; ++k) {
            step[k] = {1.0f, 0.0f};
            if (first + k < n) step[k] = {d, (1.0f - d) * x[row + first + k]};
            own = then(own, step[k]);
        }
        Affine scan = own;
        for (int distance = 1; distance < 32; distance *= 2) {
            const Affine before = {__shfl_up_sync(kAll, scan.a, distance), __shfl_up_sync(kAll, scan.b, distance)};
            if (lane >= distance) scan = then(before, scan);
        }
        if (lane == 31) totals[warp] = scan;
        Affine earlier = {__shfl_up_sync(kAll, scan.a, 1), __shfl_up_sync(kAll, scan.b, 1)};
        if (lane == 0) earlier = {1.0f, 0.0f};
        __syncthreads();  // totals are complete, and the carry of the last chunk is there

        Affine prefix = {1.0f, 0.0f};
        for (int w = 0; w < warp; ++w) prefix = then(prefix, totals[w]);
        prefix = then(prefix, earlier);
        float value = prefix.a * carry + prefix.b;
        for (int k = 0; k < kItems; ++k) {
            value = step[k].a * value + step[k].b;
            if (first + k < n) y[row + first + k] = value;
        }
        __syncthreads();  // everybody has read carry and totals
        if (threadIdx.x == kThreads - 1) carry = value;
    }
}

#define CHECK(call)                                                                   \
    do {                                                                              \
        const cudaError_t error = (call);                                             \
        if (error != cudaSuccess) {                                                   \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error));    \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)

static void readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(file);
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int rows = sizes[0], n = sizes[1];
    if (rows < 1 || rows > kMaxRows || n < 1 || n > kMaxLength) {
        fprintf(stderr, "data/sizes.bin: %d rows of %d values are not supported\n", rows, n);
        return 1;
    }
    const size_t count = static_cast<size_t>(rows) * n, bytes = count * sizeof(float);
    std::vector<float> values(count), decay(rows);
    readFile("data/x.bin", values.data(), bytes);
    readFile("data/decay.bin", decay.data(), rows * sizeof(float));

    float *dX, *dY, *dDecay;
    CHECK(cudaMalloc(&dX, bytes));
    CHECK(cudaMalloc(&dY, bytes));
    CHECK(cudaMalloc(&dDecay, rows * sizeof(float)));
    CHECK(cudaMemcpy(dX, values.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dDecay, decay.data(), rows * sizeof(float), cudaMemcpyHostToDevice));
    smoothRows<<<rows, kThreads>>>(dX, dDecay, dY, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(values.data(), dY, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dX));
    CHECK(cudaFree(dY));
    CHECK(cudaFree(dDecay));

    FILE* out = fopen("data/y.bin", "wb");
    if (!out || fwrite(values.data(), sizeof(float), count, out) != count || fclose(out) != 0) {
        fprintf(stderr, "data/y.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
