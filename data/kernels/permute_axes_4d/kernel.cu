#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kAxes = 4;
constexpr int kMaxExtent = 128;  // the tensor has at most 2^28 elements
constexpr int kThreads = 256;
constexpr int kMaxBlocks = 2048;

struct Layout {
    int extent[kAxes];  // of the result
    int stride[kAxes];  // in the input, for each axis of the result
};

__constant__ Layout cLayout;

__global__ void permuteAxes(const float* __restrict__ tensor, float* __restrict__ permuted, int count) {
    const int step = gridDim.x * blockDim.x;
    for (int position = blockIdx.x * blockDim.x + threadIdx.x; position < count; position += step) {
        int rest = position, source = 0;
#pragma unroll
        for (int a = kAxes - 1; a >= 0; --a) {
            source += rest % cLayout.extent[a] * cLayout.stride[a];
            rest /= cLayout.extent[a];
        }
        permuted[position] = tensor[source];
    }
}

#define CUDA_OK(call)                                                                           \
    do {                                                                                        \
        if (cudaError_t error = (call); error != cudaSuccess) {                                 \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            std::exit(1);                                                                       \
        }                                                                                       \
    } while (0)

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) {
        std::fprintf(stderr, "%s: expected %zu bytes\n", path, count * sizeof(T));
        std::exit(1);
    }
    std::vector<T> values(count);
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) {
        std::fprintf(stderr, "%s: cannot be read\n", path);
        std::exit(1);
    }
    return values;
}

static bool isPermutation(std::vector<int> axes) {
    std::sort(axes.begin(), axes.end());
    return axes == std::vector<int>{0, 1, 2, 3};
}

int main() {
    const std::vector<int> extents = readFile<int>("data/sizes.bin", kAxes);
    for (int extent : extents) {
        if (extent < 1 || extent > kMaxExtent) {
            std::fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", extent, kMaxExtent);
            return 1;
        }
    }
    const std::vector<int> axes = readFile<int>("data/axes.bin", kAxes);
    if (!isPermutation(axes)) {
        std::fprintf(stderr, "data/axes.bin: not a permutation of 0, 1, 2, 3\n");
        return 1;
    }

    int stride[kAxes];
    int count = 1;
    for (int a = kAxes - 1; a >= 0; --a) {
        stride[a] = count;
        count *= extents[a];
    }
    Layout layout;
    for (int a = 0; a < kAxes; ++a) {
        layout.extent[a] = extents[axes[a]];
        layout.stride[a] = stride[axes[a]];
    }
    std::vector<float> values = readFile<float>("data/tensor.bin", count);

    const size_t bytes = values.size() * sizeof(float);
    float *tensor, *permuted;
    CUDA_OK(cudaMemcpyToSymbol(cLayout, &layout, sizeof(layout)));
    CUDA_OK(cudaMalloc(&tensor, bytes));
    CUDA_OK(cudaMalloc(&permuted, bytes));
    CUDA_OK(cudaMemcpy(tensor, values.data(), bytes, cudaMemcpyHostToDevice));
    permuteAxes<<<std::min((count + kThreads - 1) / kThreads, kMaxBlocks), kThreads>>>(tensor, permuted, count);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(values.data(), permuted, bytes, cudaMemcpyDeviceToHost));
    CUDA_OK(cudaFree(tensor));
    CUDA_OK(cudaFree(permuted));

    std::ofstream out("data/permuted.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), bytes);
    out.close();
    if (!out) {
        std::fprintf(stderr, "data/permuted.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
