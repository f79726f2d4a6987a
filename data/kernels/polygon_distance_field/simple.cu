#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

__global__ void distanceField(const float2* polygon, float* field, int height, int width, int vertices) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y;
    if (x >= width) return;
    const float px = x + 0.5f, py = y + 0.5f;
    float nearest = 3.0e38f;
    bool inside = false;
    for (int i = 0; i < vertices; ++i) {
        const float2 a = polygon[i], b = polygon[(i + 1) % vertices];
        const float ex = b.x - a.x, ey = b.y - a.y;
        const float squared = ex * ex + ey * ey;
        float along = squared > 0.0f ? ((px - a.x) * ex + (py - a.y) * ey) / squared : 0.0f;
        along = fminf(fmaxf(along, 0.0f), 1.0f);
        const float dx = px - a.x - along * ex, dy = py - a.y - along * ey;
        nearest = fminf(nearest, dx * dx + dy * dy);
        if ((a.y > py) != (b.y > py) && px < a.x + (py - a.y) / ey * ex) inside = !inside;
    }
    field[y * width + x] = inside ? -sqrtf(nearest) : sqrtf(nearest);
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
    const int height = sizes[0], width = sizes[1], vertices = sizes[2];
    if (height < 1 || height > 2048 || width < 1 || width > 2048 || vertices < 3 || vertices > 2048)
        fail("data/sizes.bin: a size is out of range");
    const float2* polygon = fromFile<float2>("data/polygon.bin", vertices);
    float* field = managed<float>(height * width);
    distanceField<<<dim3((width + 127) / 128, height), 128>>>(polygon, field, height, width, vertices);
    checked(cudaGetLastError(), "launch");
    checked(cudaDeviceSynchronize(), "distanceField");
    toFile("data/field.bin", field, height * width);
    return 0;
}
