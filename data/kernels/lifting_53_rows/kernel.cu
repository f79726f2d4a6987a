#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxRows = 65535, kMinLength = 2, kMaxLength = 65536;
constexpr int kPairs = 256, kWindow = 2 * kPairs + 3;

__device__ int mirror(int index, int n) {
    if (index < 0) index = -index;
    if (index >= n) index = 2 * (n - 1) - index;
    return min(max(index, 0), n - 1);
}

__global__ void lift(const int* __restrict__ x, int* __restrict__ y, int n) {
    __shared__ int window[kWindow];
    const size_t row = static_cast<size_t>(blockIdx.y) * n;
    const int firstPair = blockIdx.x * kPairs;
    for (int k = threadIdx.x; k < kWindow; k += kPairs) window[k] = x[row + mirror(2 * firstPair - 2 + k, n)];
    __syncthreads();

    const int* even = window + 2 * threadIdx.x + 2;  // even[0] is x[2i]
    const int before = even[-1] - ((even[-2] + even[0]) >> 1);
    const int detail = even[1] - ((even[0] + even[2]) >> 1);
    const int i = firstPair + threadIdx.x;
    if (2 * i < n) {
        // In an odd row the last even sample has no partner: its mirrored difference is the one before.
        const int after = 2 * i + 1 < n ? detail : before;
        const int left = i > 0 ? before : after;
        y[row + i] = even[0] + ((left + after + 2) >> 2);
    }
    if (2 * i + 1 < n) y[row + (n + 1) / 2 + i] = detail;
}

#define OK(call)                                                                          \
    do {                                                                                  \
        cudaError_t code = (call);                                                        \
        if (code != cudaSuccess) {                                                        \
            fprintf(stderr, "%s (line %d)\n", cudaGetErrorString(code), __LINE__);        \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

static void readInts(const char* path, int* values, size_t count) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(values, sizeof(int), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu values\n", path, count);
        exit(1);
    }
    fclose(file);
}

int main() {
    int sizes[2];
    readInts("data/sizes.bin", sizes, 2);
    const int rows = sizes[0], n = sizes[1];
    if (rows < 1 || rows > kMaxRows || n < kMinLength || n > kMaxLength) {
        fprintf(stderr, "data/sizes.bin: rows %d, n %d: out of range\n", rows, n);
        return 1;
    }
    std::vector<int> values(static_cast<size_t>(rows) * n);
    const size_t bytes = values.size() * sizeof(int);
    readInts("data/x.bin", values.data(), values.size());

    int *x, *y;
    OK(cudaMalloc(&x, bytes));
    OK(cudaMalloc(&y, bytes));
    OK(cudaMemcpy(x, values.data(), bytes, cudaMemcpyHostToDevice));
    const int pairs = (n + 1) / 2;
    lift<<<dim3((pairs + kPairs - 1) / kPairs, rows), kPairs>>>(x, y, n);
    OK(cudaGetLastError());
    OK(cudaMemcpy(values.data(), y, bytes, cudaMemcpyDeviceToHost));
    OK(cudaFree(x));
    OK(cudaFree(y));

    FILE* out = fopen("data/y.bin", "wb");
    if (!out || fwrite(values.data(), sizeof(int), values.size(), out) != values.size() || fclose(out) != 0) {
        fprintf(stderr, "data/y.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
