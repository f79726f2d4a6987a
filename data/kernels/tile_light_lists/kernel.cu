#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <vector>

constexpr int kTile = 16, kRoom = 32, kThreads = 256, kWarps = kThreads / 32, kLimit = 16384;

struct Light {
    int x, y, radius;
};

__device__ bool reaches(const Light& light, int left, int right, int top, int bottom) {
    const long long dx = light.x - min(max(light.x, left), right);
    const long long dy = light.y - min(max(light.y, top), bottom);
    return dx * dx + dy * dy <= static_cast<long long>(light.radius) * light.radius;
}

__global__ void makeLists(const Light* __restrict__ lights, int lightCount, int height, int width, int* counts,
                          int16_t* lists) {
    __shared__ Light staged[kThreads];
    const int cols = (width + kTile - 1) / kTile, rows = (height + kTile - 1) / kTile;
    const int lane = threadIdx.x % 32;
    const int tile = blockIdx.x * kWarps + threadIdx.x / 32;
    const bool mine = tile < rows * cols;
    const int left = tile % cols * kTile, top = tile / cols * kTile;
    const int right = min(left + kTile, width) - 1, bottom = min(top + kTile, height) - 1;
    int16_t* list = lists + static_cast<size_t>(tile) * kRoom;

    int count = 0;
    for (int first = 0; first < lightCount; first += kThreads) {
        const int loaded = min(kThreads, lightCount - first);
        if (threadIdx.x < loaded) staged[threadIdx.x] = lights[first + threadIdx.x];
        __syncthreads();
        for (int chunk = 0; mine && chunk < loaded; chunk += 32) {
            const int k = chunk + lane;
            const bool hit = k < loaded && reaches(staged[k], left, right, top, bottom);
            const unsigned hits = __ballot_sync(0xffffffffu, hit);
            const int place = count + __popc(hits & ((1u << lane) - 1));
            if (hit && place < kRoom) list[place] = static_cast<int16_t>(first + k);
            count += __popc(hits);
        }
        __syncthreads();  // staged is filled anew
    }
    if (!mine) return;
    if (lane >= count) list[lane] = -1;
    if (lane == 0) counts[tile] = count;
}

static void fail(const char* what, const char* why) {
    std::fprintf(stderr, "%s: %s\n", what, why);
    std::exit(EXIT_FAILURE);
}

static void cuda(cudaError_t status, const char* what) {
    if (status != cudaSuccess) fail(what, cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> load(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values.data(), sizeof(T), count, file) != count || std::fgetc(file) != EOF)
        fail(path, "missing or of the wrong length");
    std::fclose(file);
    return values;
}

template <typename T>
static void save(const char* path, const T* device, size_t count) {
    std::vector<T> values(count);
    cuda(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), path);
    FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), sizeof(T), count, file) != count || std::fclose(file) != 0)
        fail(path, "cannot be written");
}

int main() {
    const auto sizes = load<int>("data/sizes.bin", 3);
    for (int size : sizes) {
        if (size < 1 || size > kLimit) fail("data/sizes.bin", "out of range");
    }
    const int height = sizes[0], width = sizes[1], count = sizes[2];
    const auto lights = load<Light>("data/light.bin", count);
    for (const Light& light : lights) {
        for (int c : {light.x, light.y}) {
            if (c < -32768 || c > 32767) fail("data/light.bin", "a centre is out of range");
        }
        if (light.radius < 0 || light.radius > 65535) fail("data/light.bin", "a radius is out of range");
    }

    const int tiles = ((height + kTile - 1) / kTile) * ((width + kTile - 1) / kTile);  // at most 2^20
    Light* dLights;
    int* counts;
    int16_t* lists;
    cuda(cudaMalloc(&dLights, count * sizeof(Light)), "lights");
    cuda(cudaMalloc(&counts, tiles * sizeof(int)), "counts");
    cuda(cudaMalloc(&lists, static_cast<size_t>(tiles) * kRoom * sizeof(int16_t)), "lists");
    cuda(cudaMemcpy(dLights, lights.data(), count * sizeof(Light), cudaMemcpyHostToDevice), "lights");
    makeLists<<<(tiles + kWarps - 1) / kWarps, kThreads>>>(dLights, count, height, width, counts, lists);
    cuda(cudaGetLastError(), "makeLists");
    save("data/counts.bin", counts, tiles);
    save("data/lists.bin", lists, static_cast<size_t>(tiles) * kRoom);
    cuda(cudaFree(dLights), "lights");
    cuda(cudaFree(counts), "counts");
    cuda(cudaFree(lists), "lists");
    return EXIT_SUCCESS;
}
