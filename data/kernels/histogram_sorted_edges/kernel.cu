#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t code = (call);                                                           \
        if (code != cudaSuccess) {                                                                 \
            std::fprintf(stderr, "CUDA error in line %d: %s\n", __LINE__, cudaGetErrorString(code)); \
            std::exit(EXIT_FAILURE);                                                               \
        }                                                                                          \
    } while (0)

constexpr int kMaxCount = 134217728;
constexpr int kMaxBins = 2048;
constexpr int kThreads = 256;

// 0: below all edges; b + 1: in bin b; bins + 1: above. The last bin is closed on both sides.
__device__ int slotOf(float value, const float* edges, int bins) {
    int low = 0, high = bins + 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (edges[middle] <= value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == bins + 1 && value == edges[bins] ? bins : low;
}

__global__ void countSlots(const float* __restrict__ values, const float* __restrict__ edges, int n, int bins,
                           uint32_t* __restrict__ slots) {
    extern __shared__ float sharedEdges[];
    uint32_t* counters = reinterpret_cast<uint32_t*>(sharedEdges + bins + 1);
    for (int i = threadIdx.x; i < bins + 1; i += kThreads) sharedEdges[i] = edges[i];
    for (int i = threadIdx.x; i < bins + 2; i += kThreads) counters[i] = 0;
    __syncthreads();

    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        atomicAdd(&counters[slotOf(values[i], sharedEdges, bins)], 1u);
    }
    __syncthreads();

    for (int i = threadIdx.x; i < bins + 2; i += kThreads) {
        if (counters[i] > 0) atomicAdd(&slots[i], counters[i]);
    }
}

template <typename T>
static std::vector<T> load(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const std::streamsize bytes = count * sizeof(T);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes)) {
        std::fprintf(stderr, "%s: wrong or unreadable file\n", path);
        std::exit(EXIT_FAILURE);
    }
    return values;
}

static void store(const char* path, const uint32_t* values, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values), count * sizeof(uint32_t));
    out.close();
    if (!out) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(EXIT_FAILURE);
    }
}

int main() {
    const std::vector<int32_t> sizes = load<int32_t>("data/sizes.bin", 2);
    const int n = sizes[0], bins = sizes[1];
    if (n < 1 || n > kMaxCount || bins < 1 || bins > kMaxBins) {
        std::fprintf(stderr, "data/sizes.bin: a size is out of range\n");
        return EXIT_FAILURE;
    }
    const std::vector<float> values = load<float>("data/values.bin", n);
    const std::vector<float> edges = load<float>("data/edges.bin", bins + 1);
    for (int b = 0; b < bins; ++b) {
        if (!(edges[b] < edges[b + 1])) {
            std::fprintf(stderr, "data/edges.bin: entries %d and %d do not ascend\n", b, b + 1);
            return EXIT_FAILURE;
        }
    }

    float *dValues, *dEdges;
    uint32_t* dSlots;
    std::vector<uint32_t> slots(bins + 2);
    CHECK(cudaMalloc(&dValues, values.size() * sizeof(float)));
    CHECK(cudaMalloc(&dEdges, edges.size() * sizeof(float)));
    CHECK(cudaMalloc(&dSlots, slots.size() * sizeof(uint32_t)));
    CHECK(cudaMemcpy(dValues, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dEdges, edges.data(), edges.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(dSlots, 0, slots.size() * sizeof(uint32_t)));

    const size_t sharedBytes = edges.size() * sizeof(float) + slots.size() * sizeof(uint32_t);
    int device, multiprocessors, resident;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, countSlots, kThreads, sharedBytes));
    const int blocks = std::min((n + kThreads - 1) / kThreads, resident * multiprocessors);
    countSlots<<<blocks, kThreads, sharedBytes>>>(dValues, dEdges, n, bins, dSlots);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(slots.data(), dSlots, slots.size() * sizeof(uint32_t), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dValues));
    CHECK(cudaFree(dEdges));
    CHECK(cudaFree(dSlots));

    const uint32_t outside[2] = {slots.front(), slots.back()};
    store("data/counts.bin", slots.data() + 1, bins);
    store("data/outside.bin", outside, 2);
    return EXIT_SUCCESS;
}
