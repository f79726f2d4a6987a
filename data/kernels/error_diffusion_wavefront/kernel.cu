#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

// A block per image, a thread per row; row y works on column t - 2 y in step t.
__global__ void diffuse(const uint8_t* gray, uint8_t* binary, int* inherited, int* residue, int height, int width) {
    __shared__ int total;
    const size_t image = static_cast<size_t>(blockIdx.x) * height * width;
    const int y = threadIdx.x;
    if (y == 0) total = 0;
    int carried = 0, sum = 0;
    const int steps = width + 2 * (height - 1);
    for (int t = 0; t < steps; ++t) {
        const int x = t - 2 * y;
        if (y < height && x >= 0 && x < width) {
            const size_t at = image + static_cast<size_t>(y) * width + x;
            const int value = gray[at] + inherited[at] + carried;
            const int out = value >= 128 ? 255 : 0;
            const int error = value - out;
            binary[at] = static_cast<uint8_t>(out);
            sum += abs(error);
            carried = (7 * error) >> 4;
            if (y + 1 < height) {
                int* below = inherited + at + width;
                if (x > 0) below[-1] += (3 * error) >> 4;
                below[0] += (5 * error) >> 4;
                if (x + 1 < width) below[1] += error >> 4;
            }
        }
        __syncthreads();
    }
    if (sum > 0) atomicAdd(&total, sum);
    __syncthreads();
    if (y == 0) residue[blockIdx.x] = total;
}

[[noreturn]] static void fail(const std::string& message) {
    std::cerr << message << '\n';
    std::exit(1);
}

static void checked(cudaError_t status, const char* step) {
    if (status != cudaSuccess) fail(std::string(step) + ": " + cudaGetErrorString(status));
}

// Memory that host and device see; the process's end frees it.
template <typename T>
static T* managed(size_t count) {
    T* data = nullptr;
    checked(cudaMallocManaged(&data, count * sizeof(T)), "cudaMallocManaged");
    return data;
}

template <typename T>
static T* fromFile(const char* path, size_t count) {
    T* data = managed<T>(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(data), count * sizeof(T));
    if (!in || in.get() != EOF) fail(std::string(path) + ": missing, too short or too long");
    return data;
}

template <typename T>
static void toFile(const char* path, const T* data, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), count * sizeof(T));
    out.close();
    if (!out) fail(std::string(path) + ": cannot be written");
}

int main() {
    const int* sizes = fromFile<int>("data/sizes.bin", 3);
    const int images = sizes[0], height = sizes[1], width = sizes[2];
    if (images < 1 || images > 4096 || height < 1 || height > 1024 || width < 1 || width > 4096)
        fail("data/sizes.bin: a size is out of range");
    const size_t pixels = static_cast<size_t>(images) * height * width;
    const uint8_t* gray = fromFile<uint8_t>("data/gray.bin", pixels);
    uint8_t* binary = managed<uint8_t>(pixels);
    int* residue = managed<int>(images);
    int* inherited = nullptr;
    checked(cudaMalloc(&inherited, pixels * sizeof(int)), "cudaMalloc");
    checked(cudaMemset(inherited, 0, pixels * sizeof(int)), "cudaMemset");

    const int threads = std::min((height + 31) / 32 * 32, 1024);
    diffuse<<<images, threads>>>(gray, binary, inherited, residue, height, width);
    checked(cudaGetLastError(), "launch");
    checked(cudaDeviceSynchronize(), "diffuse");
    toFile("data/binary.bin", binary, pixels);
    toFile("data/residue.bin", residue, images);
    checked(cudaFree(inherited), "cudaFree");
    return 0;
}
