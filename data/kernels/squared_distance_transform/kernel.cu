#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kFar = 20000;  // more than any distance; its square fits 32 bits

__global__ void columnDistances(const uint8_t* mask, int* gap, int height, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    int since = kFar;
    for (int y = 0; y < height; ++y) {
        since = mask[y * width + x] ? 0 : min(since + 1, kFar);
        gap[y * width + x] = since;
    }
    for (int y = height - 1; y >= 0; --y) {
        const int down = gap[y * width + x];
        since = down == 0 ? 0 : min(since + 1, kFar);
        gap[y * width + x] = min(down, since);
    }
}

__global__ void rowMinima(const int* gap, int* squared, int width) {
    extern __shared__ int row[];
    const int start = blockIdx.x * width;
    for (int x = threadIdx.x; x < width; x += blockDim.x) row[x] = gap[start + x] * gap[start + x];
    __syncthreads();
    for (int x = threadIdx.x; x < width; x += blockDim.x) {
        int best = row[x];
        for (int dx = 1; dx * dx < best && (x - dx >= 0 || x + dx < width); ++dx) {
            if (x - dx >= 0) best = min(best, row[x - dx] + dx * dx);
            if (x + dx < width) best = min(best, row[x + dx] + dx * dx);
        }
        squared[start + x] = best < kFar * kFar ? best : -1;
    }
}

#define CHECK(call)                                                                    \
    do {                                                                               \
        const cudaError_t status_ = (call);                                            \
        if (status_ != cudaSuccess) {                                                  \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status_));   \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu values of %zu bytes\n", path, count, sizeof(T));
        exit(1);
    }
    fclose(file);
    return values;
}

template <typename T>
static T* toDevice(const std::vector<T>& host) {
    T* device;
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static void writeFile(const char* path, const T* device, size_t count) {
    std::vector<T> host(count);
    CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host.data(), sizeof(T), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 2);
    const int height = sizes[0], width = sizes[1];
    if (height < 1 || height > 4096 || width < 1 || width > 4096) {
        fprintf(stderr, "data/sizes.bin: %d x %d\n", height, width);
        return 1;
    }
    const size_t pixels = (size_t)height * width;
    uint8_t* mask = toDevice(readFile<uint8_t>("data/mask.bin", pixels));
    int *gap, *squared;
    CHECK(cudaMalloc(&gap, pixels * sizeof(int)));
    CHECK(cudaMalloc(&squared, pixels * sizeof(int)));
    columnDistances<<<(width + 127) / 128, 128>>>(mask, gap, height, width);
    CHECK(cudaGetLastError());
    rowMinima<<<height, 256, width * sizeof(int)>>>(gap, squared, width);
    CHECK(cudaGetLastError());
    writeFile("data/squared.bin", squared, pixels);
    CHECK(cudaFree(mask));
    CHECK(cudaFree(gap));
    CHECK(cudaFree(squared));
    return 0;
}
