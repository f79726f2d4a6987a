#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int NODES = 500;
constexpr int ENTRIES = 3000;
constexpr int WALKS = 300;
constexpr int STEPS = 12;

inline void ensure(cudaError_t status, const char* step) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", step, cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}

template <typename T>
bool read_vector(const char* path, std::vector<T>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(v.data(), sizeof(T), v.size(), f);
    fclose(f);
    return got == v.size();
}

template <typename T>
bool write_vector(const char* path, const std::vector<T>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(v.data(), sizeof(T), v.size(), f);
    fclose(f);
    return put == v.size();
}

// The bounds of all successor lists, side by side, so that a step needs one 8-byte load.
__global__ void pack_bounds(const int* row_start, int2* bounds) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < NODES) bounds[v] = make_int2(row_start[v], row_start[v + 1] - row_start[v]);
}

__global__ void follow(const int2* __restrict__ bounds, const int* __restrict__ neighbor,
                       const int* __restrict__ origin, const float* __restrict__ draw, int* __restrict__ path) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= WALKS) return;
    int at = origin[w];
    float u = draw[w];
    for (int t = 0; t < STEPS; ++t) {
        float following = t + 1 < STEPS ? draw[(t + 1) * WALKS + w] : 0.0f;
        int2 list = bounds[at];
        if (list.y > 0) at = neighbor[list.x + min((int)(u * (float)list.y), list.y - 1)];
        path[t * WALKS + w] = at;
        u = following;
    }
}

int main() {
    std::vector<int> host_row_start(NODES + 1);
    std::vector<int> host_neighbor(ENTRIES);
    std::vector<int> host_origin(WALKS);
    std::vector<float> host_draw(STEPS * WALKS);
    std::vector<int> host_path(STEPS * WALKS);
    if (!read_vector("data/row_start.bin", host_row_start) ||
        !read_vector("data/neighbor.bin", host_neighbor) ||
        !read_vector("data/origin.bin", host_origin) ||
        !read_vector("data/draw.bin", host_draw)) {
        fprintf(stderr, "cannot read inputs\n");
        return 1;
    }

    int* d_row_start = nullptr;
    int* d_neighbor = nullptr;
    int* d_origin = nullptr;
    float* d_draw = nullptr;
    int* d_path = nullptr;
    int2* d_bounds = nullptr;
    ensure(cudaMalloc(&d_row_start, (NODES + 1) * sizeof(int)), "device memory for row_start");
    ensure(cudaMemcpy(d_row_start, host_row_start.data(), (NODES + 1) * sizeof(int),
            cudaMemcpyHostToDevice), "copy row_start");
    ensure(cudaMalloc(&d_neighbor, ENTRIES * sizeof(int)), "device memory for neighbor");
    ensure(cudaMemcpy(d_neighbor, host_neighbor.data(), ENTRIES * sizeof(int), cudaMemcpyHostToDevice),
            "copy neighbor");
    ensure(cudaMalloc(&d_origin, WALKS * sizeof(int)), "device memory for origin");
    ensure(cudaMemcpy(d_origin, host_origin.data(), WALKS * sizeof(int), cudaMemcpyHostToDevice),
            "copy origin");
    ensure(cudaMalloc(&d_draw, STEPS * WALKS * sizeof(float)), "device memory for draw");
    ensure(cudaMemcpy(d_draw, host_draw.data(), STEPS * WALKS * sizeof(float), cudaMemcpyHostToDevice),
            "copy draw");
    ensure(cudaMalloc(&d_path, STEPS * WALKS * sizeof(int)), "device memory for path");
    ensure(cudaMalloc(&d_bounds, NODES * sizeof(int2)), "device memory for bounds");

    pack_bounds<<<(NODES + 255) / 256, 256>>>(d_row_start, d_bounds);
    follow<<<(WALKS + 63) / 64, 64>>>(d_bounds, d_neighbor, d_origin, d_draw, d_path);
    ensure(cudaGetLastError(), "launch");
    ensure(cudaMemcpy(host_path.data(), d_path, STEPS * WALKS * sizeof(int), cudaMemcpyDeviceToHost),
            "copy path back");

    cudaFree(d_row_start);
    cudaFree(d_neighbor);
    cudaFree(d_origin);
    cudaFree(d_draw);
    cudaFree(d_path);
    cudaFree(d_bounds);

    if (!write_vector("data/path.bin", host_path)) return 1;
    return 0;
}
