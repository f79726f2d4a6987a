#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int NODES = 2000;
constexpr int ENTRIES = 8000;

struct GpuArray {
    int* ptr = nullptr;
    explicit GpuArray(size_t n) {
        if (cudaMalloc(&ptr, n * sizeof(int)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~GpuArray() { cudaFree(ptr); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
};

std::vector<int> loadFile(const std::string& path, size_t n) {
    std::vector<int> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()),
            n * sizeof(int))) throw std::runtime_error("cannot read " + path);
    return v;
}

// Parents are unsigned here, so that -1 (all bits set) is larger than every vertex number.
__global__ void claim_neighbors(const int* row_start, const int* neighbor, const int* level,
        unsigned int* parent) {
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= NODES || level[u] != 2) return;
    int end = row_start[u + 1];
    for (int k = row_start[u]; k < end; ++k) {
        int v = neighbor[k];
        if (level[v] == -1) atomicMin(&parent[v], (unsigned int)u);
    }
}

__global__ void set_levels(const int* level, const int* parent, int* new_level) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < NODES) new_level[v] = parent[v] >= 0 ? 3 : level[v];
}

int main() {
    std::vector<int> host_row_start = loadFile("data/row_start.bin", NODES + 1);
    std::vector<int> host_neighbor = loadFile("data/neighbor.bin", ENTRIES);
    std::vector<int> host_level = loadFile("data/level.bin", NODES);
    std::vector<int> host_new_level(NODES);
    std::vector<int> host_parent(NODES);

    GpuArray row_startDev(NODES + 1);
    GpuArray neighborDev(ENTRIES);
    GpuArray levelDev(NODES);
    GpuArray new_levelDev(NODES);
    GpuArray parentDev(NODES);
    cudaMemcpy(row_startDev.ptr, host_row_start.data(), (NODES + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(neighborDev.ptr, host_neighbor.data(), ENTRIES * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(levelDev.ptr, host_level.data(), NODES * sizeof(int), cudaMemcpyHostToDevice);

    cudaMemset(parentDev.ptr, 0xff, NODES * sizeof(int));
    int blocks = (NODES + 127) / 128;
    claim_neighbors<<<blocks, 128>>>(row_startDev.ptr, neighborDev.ptr, levelDev.ptr,
            (unsigned int*)parentDev.ptr);
    set_levels<<<blocks, 128>>>(levelDev.ptr, parentDev.ptr, new_levelDev.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");
    cudaMemcpy(host_new_level.data(), new_levelDev.ptr, NODES * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_parent.data(), parentDev.ptr, NODES * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream("data/new_level.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(host_new_level.data()), NODES * sizeof(int));
    std::ofstream("data/parent.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(host_parent.data()), NODES * sizeof(int));
}
