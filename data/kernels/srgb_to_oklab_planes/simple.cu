#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

__device__ float decode(uint8_t byte) {
    const float c = byte / 255.0f;
    return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
}

__global__ void oklab(const uint8_t* image, float* lab, int pixels) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    const float r = decode(image[3 * i]), g = decode(image[3 * i + 1]), b = decode(image[3 * i + 2]);
    const float l = cbrtf(0.4122214708f * r + 0.5363325363f * g + 0.0514459929f * b);
    const float m = cbrtf(0.2119034982f * r + 0.6806995451f * g + 0.1073969566f * b);
    const float s = cbrtf(0.0883024619f * r + 0.2817188376f * g + 0.6299787005f * b);
    lab[i] = 0.2104542553f * l + 0.7936177850f * m - 0.0040720468f * s;
    lab[pixels + i] = 1.9779984951f * l - 2.4285922050f * m + 0.4505937099f * s;
    lab[2 * pixels + i] = 0.0259040371f * l + 0.7827717662f * m - 0.8086757660f * s;
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
    const int pixels = readFile<int>("data/sizes.bin", 1)[0];
    if (pixels < 1 || pixels > 16777216) {
        fprintf(stderr, "data/sizes.bin: %d pixels\n", pixels);
        return 1;
    }
    uint8_t* image = toDevice(readFile<uint8_t>("data/image.bin", 3 * (size_t)pixels));
    float* lab;
    CHECK(cudaMalloc(&lab, 3 * (size_t)pixels * sizeof(float)));
    oklab<<<(pixels + 255) / 256, 256>>>(image, lab, pixels);
    CHECK(cudaGetLastError());
    writeFile("data/lab.bin", lab, 3 * (size_t)pixels);
    CHECK(cudaFree(image));
    CHECK(cudaFree(lab));
    return 0;
}
