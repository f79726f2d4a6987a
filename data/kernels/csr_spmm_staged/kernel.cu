#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                                    \
    do {                                                                                    \
        cudaError_t error_ = (call);                                                        \
        if (error_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_)); \
            exit(EXIT_FAILURE);                                                             \
        }                                                                                   \
    } while (0)

static const int THREADS = 96;  // also the largest number of dense columns
static const int MAX_SIDE = 1000000;
static const int MAX_ENTRIES = 10000000;

__global__ void spmm(const int* __restrict__ rowPtr, const int* __restrict__ colIndex,
                     const float* __restrict__ values, const float* __restrict__ dense, float* __restrict__ product,
                     int columns) {
    __shared__ int stagedCol[THREADS];
    __shared__ float stagedValue[THREADS];
    const int row = blockIdx.x;
    const int j = threadIdx.x;
    const int begin = rowPtr[row];
    const int end = rowPtr[row + 1];

    float sum = 0.0f;
    for (int base = begin; base < end; base += THREADS) {
        const int portion = min(THREADS, end - base);
        if (j < portion) {
            stagedCol[j] = colIndex[base + j];
            stagedValue[j] = values[base + j];
        }
        __syncthreads();
        if (j < columns) {
            for (int e = 0; e < portion; ++e) {
                sum += stagedValue[e] * dense[stagedCol[e] * columns + j];
            }
        }
        __syncthreads();
    }
    if (j < columns) {
        product[row * columns + j] = sum;
    }
}

template <typename T>
static std::vector<T> load(const char* path, size_t count) {
    std::vector<T> data(count);
    FILE* file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s: cannot open\n", path);
        exit(EXIT_FAILURE);
    }
    bool exact = fread(data.data(), sizeof(T), count, file) == count && fgetc(file) == EOF;
    fclose(file);
    if (!exact) {
        fprintf(stderr, "%s: not %zu elements\n", path, count);
        exit(EXIT_FAILURE);
    }
    return data;
}

template <typename T>
static T* toDevice(const std::vector<T>& host) {
    T* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    std::vector<int> sizes = load<int>("data/sizes.bin", 4);
    const int rows = sizes[0], inner = sizes[1], columns = sizes[2], entries = sizes[3];
    bool supported = *std::min_element(sizes.begin(), sizes.end()) >= 1 && rows <= MAX_SIDE && inner <= MAX_SIDE;
    if (!supported || columns > THREADS || entries > MAX_ENTRIES) {
        fprintf(stderr, "data/sizes.bin: a size is out of range\n");
        return EXIT_FAILURE;
    }
    std::vector<int> rowPtr = load<int>("data/row_ptr.bin", rows + 1);
    std::vector<int> colIndex = load<int>("data/col_index.bin", entries);
    std::vector<float> values = load<float>("data/values.bin", entries);
    std::vector<float> dense = load<float>("data/dense.bin", (size_t)inner * columns);

    bool valid = rowPtr.front() == 0 && rowPtr.back() == entries && std::is_sorted(rowPtr.begin(), rowPtr.end());
    valid = valid && std::all_of(colIndex.begin(), colIndex.end(), [=](int c) { return c >= 0 && c < inner; });
    if (!valid) {
        fprintf(stderr, "the CSR structure is inconsistent\n");
        return EXIT_FAILURE;
    }

    int* dRowPtr = toDevice(rowPtr);
    int* dColIndex = toDevice(colIndex);
    float* dValues = toDevice(values);
    float* dDense = toDevice(dense);
    std::vector<float> product((size_t)rows * columns);
    float* dProduct = nullptr;
    CUDA_CHECK(cudaMalloc(&dProduct, product.size() * sizeof(float)));

    spmm<<<rows, THREADS>>>(dRowPtr, dColIndex, dValues, dDense, dProduct, columns);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(product.data(), dProduct, product.size() * sizeof(float), cudaMemcpyDeviceToHost));

    CUDA_CHECK(cudaFree(dRowPtr));
    CUDA_CHECK(cudaFree(dColIndex));
    CUDA_CHECK(cudaFree(dValues));
    CUDA_CHECK(cudaFree(dDense));
    CUDA_CHECK(cudaFree(dProduct));

    FILE* out = fopen("data/product.bin", "wb");
    if (!out) {
        fprintf(stderr, "data/product.bin: cannot open\n");
        return EXIT_FAILURE;
    }
    bool written = fwrite(product.data(), sizeof(float), product.size(), out) == product.size();
    written = fclose(out) == 0 && written;
    return written ? EXIT_SUCCESS : EXIT_FAILURE;
}
