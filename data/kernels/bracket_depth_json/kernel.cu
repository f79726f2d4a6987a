#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int WARPS = 8;
constexpr unsigned ALL = 0xffffffffu;

__device__ __forceinline__ int stepOf(uint8_t c) {
    return (c == '[' || c == '{') - (c == ']' || c == '}');
}

__device__ __forceinline__ int16_t clip(int value) { return static_cast<int16_t>(max(-32768, min(32767, value))); }

__global__ void measure(const int* __restrict__ offsets, const uint8_t* __restrict__ text, int16_t* __restrict__ depth,
                        int* __restrict__ summary, int documents) {
    const int lane = threadIdx.x, document = blockIdx.x * WARPS + threadIdx.y;
    if (document >= documents) return;
    const int begin = offsets[document], end = offsets[document + 1];
    int carried = 0, deepest = 0, firstBelow = -1;
    for (int first = begin; first < end; first += 32) {
        const int i = first + lane;
        int sum = i < end ? stepOf(text[i]) : 0;
        for (int step = 1; step < 32; step *= 2) {
            const int other = __shfl_up_sync(ALL, sum, step);
            if (lane >= step) sum += other;
        }
        sum += carried;
        if (i < end) depth[i] = clip(sum);
        deepest = max(deepest, sum);  // behind the end, lanes repeat the last depth
        const unsigned below = __ballot_sync(ALL, i < end && sum < 0);
        if (firstBelow < 0 && below != 0) firstBelow = first - begin + __ffs(below) - 1;
        carried = __shfl_sync(ALL, sum, 31);
    }
    deepest = __reduce_max_sync(ALL, deepest);
    if (lane == 0) {
        summary[3 * document] = deepest;
        summary[3 * document + 1] = carried;
        summary[3 * document + 2] = firstBelow;
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> load(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary);
    std::vector<T> values(count);
    in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
    if (!in || in.get() != EOF) throw std::runtime_error("wrong length: " + path);
    return values;
}

template <typename T>
static void save(const std::string& path, const T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
    if (!out.flush()) throw std::runtime_error("cannot write: " + path);
}

static void run() {
    const auto sizes = load<int>("data/sizes.bin", 2);
    const int documents = sizes[0], bytes = sizes[1];
    if (documents < 1 || documents > 100000 || bytes < 1 || bytes > 8000000) throw std::runtime_error("bad sizes");
    const auto offsets = load<int>("data/offsets.bin", documents + 1);
    if (offsets.front() != 0 || offsets.back() != bytes) throw std::runtime_error("offsets do not span the text");
    for (int d = 0; d < documents; ++d) {
        if (offsets[d] > offsets[d + 1]) throw std::runtime_error("offsets descend");
    }
    const auto text = load<uint8_t>("data/text.bin", bytes);
    int *dOffsets, *summary;
    uint8_t* dText;
    int16_t* depth;
    check(cudaMalloc(&dOffsets, (documents + 1) * sizeof(int)));
    check(cudaMalloc(&summary, 3 * documents * sizeof(int)));
    check(cudaMalloc(&dText, bytes));
    check(cudaMalloc(&depth, bytes * sizeof(int16_t)));
    check(cudaMemcpy(dOffsets, offsets.data(), (documents + 1) * sizeof(int), cudaMemcpyHostToDevice));
    check(cudaMemcpy(dText, text.data(), bytes, cudaMemcpyHostToDevice));
    measure<<<(documents + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(dOffsets, dText, depth, summary, documents);
    check(cudaGetLastError());
    save("data/depth.bin", depth, bytes);
    save("data/summary.bin", summary, 3 * static_cast<size_t>(documents));
    for (int* pointer : {dOffsets, summary}) check(cudaFree(pointer));
    check(cudaFree(dText));
    check(cudaFree(depth));
}

int main() {
    try {
        run();
        return 0;
    } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
