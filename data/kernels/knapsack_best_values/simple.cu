#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

__global__ void addItem(const int* weights, const int* values, int items, int i, int capacity, int problems,
                        const int* from, int* to) {
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t width = capacity + 1;
    if (at >= problems * width) return;
    const size_t problem = at / width;
    const int c = (int)(at % width);
    const int weight = weights[problem * items + i], value = values[problem * items + i];
    const int without = from[at];
    to[at] = c >= weight ? max(without, from[at - weight] + value) : without;
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

static bool within(const std::vector<int>& numbers, int low, int high) {
    for (int number : numbers) {
        if (number < low || number > high) return false;
    }
    return true;
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 3);
    const int problems = sizes[0], items = sizes[1], capacity = sizes[2];
    if (problems < 1 || problems > 65535 || items < 1 || items > 1024 || capacity < 1 || capacity > 8191) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const std::vector<int> heavy = readFile<int>("data/weights.bin", (size_t)problems * items);
    const std::vector<int> worth = readFile<int>("data/values.bin", (size_t)problems * items);
    if (!within(heavy, 1, 2147483647) || !within(worth, 0, 1000000)) {
        fprintf(stderr, "a weight or a value is out of range\n");
        return 1;
    }
    int *weights = toDevice(heavy), *values = toDevice(worth), *from, *to;
    const size_t entries = (size_t)problems * (capacity + 1);
    CHECK(cudaMalloc(&from, entries * sizeof(int)));
    CHECK(cudaMalloc(&to, entries * sizeof(int)));
    CHECK(cudaMemset(from, 0, entries * sizeof(int)));
    for (int i = 0; i < items; ++i) {
        addItem<<<(unsigned)((entries + 255) / 256), 256>>>(weights, values, items, i, capacity, problems, from, to);
        std::swap(from, to);
    }
    CHECK(cudaGetLastError());
    writeFile("data/best.bin", from, entries);
    for (int* pointer : {weights, values, from, to}) CHECK(cudaFree(pointer));
    return 0;
}
