#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kVerticesPerBlock = 8;

__global__ void inverseRoots(const int* __restrict__ rowPtr, float* __restrict__ factor, int vertices) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices) factor[v] = rsqrtf(static_cast<float>(rowPtr[v + 1] - rowPtr[v] + 1));
}

__device__ void accumulate(float4& sum, float weight, float4 value) {
    sum.x = fmaf(weight, value.x, sum.x);
    sum.y = fmaf(weight, value.y, sum.y);
    sum.z = fmaf(weight, value.z, sum.z);
    sum.w = fmaf(weight, value.w, sum.w);
}

__global__ void aggregate(const int* __restrict__ rowPtr, const int* __restrict__ neighbors,
                          const float* __restrict__ factor, const float4* __restrict__ features,
                          float4* __restrict__ output, int vertices, int columns) {
    const int v = blockIdx.x * kVerticesPerBlock + threadIdx.y;
    if (v >= vertices) return;
    const int begin = rowPtr[v], end = rowPtr[v + 1];
    const float own = factor[v];
    for (int x = threadIdx.x; x < columns; x += 32) {
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        for (int e = begin; e < end; ++e) {
            const int u = __ldg(&neighbors[e]);
            accumulate(sum, __ldg(&factor[u]), features[static_cast<size_t>(u) * columns + x]);
        }
        const size_t at = static_cast<size_t>(v) * columns + x;
        accumulate(sum, own, features[at]);
        output[at] = make_float4(own * sum.x, own * sum.y, own * sum.z, own * sum.w);
    }
}

static void require(bool good, const std::string& message) {
    if (!good) throw std::runtime_error(message);
}

static void check(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    require(in.is_open(), path + ": cannot be opened");
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    require(in && in.peek() == EOF, path + ": wrong size");
    return values;
}

template <typename T>
static T* upload(const std::vector<T>& values) {
    T* device = nullptr;
    check(cudaMalloc(&device, values.size() * sizeof(T)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    try {
        const auto sizes = readFile<int32_t>("data/sizes.bin", 3);
        const int vertices = sizes[0], entries = sizes[1], width = sizes[2];
        require(vertices >= 1 && vertices <= 1000000 && entries >= 1 && entries <= 8000000, "sizes: graph");
        require(width >= 4 && width <= 512 && width % 4 == 0, "sizes: width");
        const auto rowPtr = readFile<int32_t>("data/row_ptr.bin", vertices + 1);
        const auto neighbors = readFile<int32_t>("data/neighbors.bin", entries);
        require(rowPtr[0] == 0 && rowPtr[vertices] == entries, "row_ptr: wrong ends");
        for (int v = 0; v < vertices; ++v) require(rowPtr[v] <= rowPtr[v + 1], "row_ptr: decreases");
        for (int u : neighbors) require(u >= 0 && u < vertices, "neighbors: no such vertex");
        std::vector<float> features = readFile<float>("data/features.bin", static_cast<size_t>(vertices) * width);

        int *dRowPtr = upload(rowPtr), *dNeighbors = upload(neighbors);
        float *dFeatures = upload(features), *dFactor = nullptr, *dOutput = nullptr;
        check(cudaMalloc(&dFactor, vertices * sizeof(float)));
        check(cudaMalloc(&dOutput, features.size() * sizeof(float)));
        inverseRoots<<<(vertices + 255) / 256, 256>>>(dRowPtr, dFactor, vertices);
        check(cudaGetLastError());
        const int blocks = (vertices + kVerticesPerBlock - 1) / kVerticesPerBlock;
        aggregate<<<blocks, dim3(32, kVerticesPerBlock)>>>(dRowPtr, dNeighbors, dFactor,
                                                           reinterpret_cast<const float4*>(dFeatures),
                                                           reinterpret_cast<float4*>(dOutput), vertices, width / 4);
        check(cudaGetLastError());
        check(cudaMemcpy(features.data(), dOutput, features.size() * sizeof(float), cudaMemcpyDeviceToHost));
        for (int* p : {dRowPtr, dNeighbors}) check(cudaFree(p));
        for (float* p : {dFeatures, dFactor, dOutput}) check(cudaFree(p));

        std::ofstream out("data/output.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(features.data()), features.size() * sizeof(float));
        out.close();
        require(bool(out), "data/output.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
