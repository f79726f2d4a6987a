#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void flatten(const uchar4* rgba, float4* composite, int layers, int pixels) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float passes = i < pixels ? 1.0f : 0.0f;  // the light that comes through the layers above
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int layer = layers - 1; layer >= 0; --layer) {
        if (!__any_sync(0xffffffffu, passes > 1.0e-6f)) break;
        if (i >= pixels) continue;
        const uchar4 pixel = rgba[(size_t)layer * pixels + i];
        const float alpha = pixel.w / 255.0f, weight = passes * alpha / 255.0f;
        sum.x += weight * pixel.x;
        sum.y += weight * pixel.y;
        sum.z += weight * pixel.z;
        sum.w += passes * alpha;
        passes *= 1.0f - alpha;
    }
    if (i < pixels) composite[i] = sum;
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
    const int layers = sizes[0], pixels = sizes[1];
    if (layers < 1 || layers > 256 || pixels < 1 || pixels > 4194304) {
        fprintf(stderr, "data/sizes.bin: layers %d, pixels %d\n", layers, pixels);
        return 1;
    }
    uchar4* rgba = toDevice(readFile<uchar4>("data/rgba.bin", (size_t)layers * pixels));
    float4* composite;
    CHECK(cudaMalloc(&composite, pixels * sizeof(float4)));
    flatten<<<(pixels + 255) / 256, 256>>>(rgba, composite, layers, pixels);
    CHECK(cudaGetLastError());
    writeFile("data/composite.bin", composite, pixels);
    CHECK(cudaFree(rgba));
    CHECK(cudaFree(composite));
    return 0;
}
