#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 256;

__global__ void windingNumbers(const int2* queries, const int2* polygon, int points, int vertices, int* winding,
                               int* inside) {
    __shared__ int4 edges[kThreads];  // (a.x, a.y, b.x, b.y)
    int found = 0;
    for (int base = blockIdx.x * kThreads; base < points; base += gridDim.x * kThreads) {
        const int i = base + threadIdx.x;
        const int2 q = i < points ? queries[i] : make_int2(0, 0);
        int turns = 0;
        for (int first = 0; first < vertices; first += kThreads) {
            const int v = first + threadIdx.x;
            if (v < vertices) {
                const int2 a = polygon[v], b = polygon[v + 1 < vertices ? v + 1 : 0];
                edges[threadIdx.x] = make_int4(a.x, a.y, b.x, b.y);
            }
            __syncthreads();
            const int count = min(kThreads, vertices - first);
            for (int e = 0; e < count; ++e) {
                const int4 edge = edges[e];
                const bool up = edge.y <= q.y && q.y < edge.w, down = edge.w <= q.y && q.y < edge.y;
                if (!up && !down) continue;
                const long long side = static_cast<long long>(edge.z - edge.x) * (q.y - edge.y) -
                                       static_cast<long long>(edge.w - edge.y) * (q.x - edge.x);
                if (up && side > 0) ++turns;
                if (down && side < 0) --turns;
            }
            __syncthreads();  // before the next tile replaces this one
        }
        if (i < points) {
            winding[i] = turns;
            found += turns != 0;
        }
    }
    found = __reduce_add_sync(0xffffffffu, found);
    if (threadIdx.x % 32 == 0 && found > 0) atomicAdd(inside, found);
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
    const int points = sizes[0], vertices = sizes[1];
    if (points < 1 || points > 4194304 || vertices < 3 || vertices > 8192) {
        fprintf(stderr, "data/sizes.bin: points %d, vertices %d\n", points, vertices);
        return 1;
    }
    int2* polygon = toDevice(readFile<int2>("data/polygon.bin", vertices));
    int2* queries = toDevice(readFile<int2>("data/queries.bin", points));
    int *winding, *inside;
    CHECK(cudaMalloc(&winding, points * sizeof(int)));
    CHECK(cudaMalloc(&inside, sizeof(int)));
    CHECK(cudaMemset(inside, 0, sizeof(int)));

    const int blocks = std::min(4096, (points + kThreads - 1) / kThreads);
    windingNumbers<<<blocks, kThreads>>>(queries, polygon, points, vertices, winding, inside);
    CHECK(cudaGetLastError());
    writeFile("data/winding.bin", winding, points);
    writeFile("data/inside.bin", inside, 1);
    CHECK(cudaFree(polygon));
    CHECK(cudaFree(queries));
    CHECK(cudaFree(winding));
    CHECK(cudaFree(inside));
    return 0;
}
