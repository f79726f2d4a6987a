#include <climits>
#include <string>
#include <vector>
#include <stdexcept>
#include <fstream>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("cannot read " + path);
    }
    return values;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kNodes = 2000;
constexpr int kEntries = 8000;

__global__ void expand_level(const int* row_start, const int* neighbor, const int* level,
                             int* new_level, int* parent) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= kNodes) return;
    int found = INT_MAX;
    if (level[v] == -1) {
        for (int k = row_start[v]; k < row_start[v + 1]; ++k) {
            int u = neighbor[k];
            if (level[u] == 2 && u < found) found = u;
        }
    }
    new_level[v] = found == INT_MAX ? level[v] : 3;
    parent[v] = found == INT_MAX ? -1 : found;
}

int main() {
    const auto h_row_start = load<int>("data/row_start.bin", kNodes + 1);
    const auto h_neighbor = load<int>("data/neighbor.bin", kEntries);
    const auto h_level = load<int>("data/level.bin", kNodes);

    int* d_row_start;
    int* d_neighbor;
    int* d_level;
    int* d_new_level;
    int* d_parent;
    cudaMalloc(&d_row_start, (kNodes + 1) * sizeof(int));
    cudaMalloc(&d_neighbor, kEntries * sizeof(int));
    cudaMalloc(&d_level, kNodes * sizeof(int));
    cudaMalloc(&d_new_level, kNodes * sizeof(int));
    cudaMalloc(&d_parent, kNodes * sizeof(int));
    cudaMemcpy(d_row_start, h_row_start.data(), (kNodes + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_neighbor, h_neighbor.data(), kEntries * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_level, h_level.data(), kNodes * sizeof(int), cudaMemcpyHostToDevice);

    expand_level<<<(kNodes + 255) / 256, 256>>>(d_row_start, d_neighbor, d_level, d_new_level, d_parent);

    std::vector<int> h_new_level(kNodes);
    std::vector<int> h_parent(kNodes);
    cudaMemcpy(h_new_level.data(), d_new_level, kNodes * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_parent.data(), d_parent, kNodes * sizeof(int), cudaMemcpyDeviceToHost);
    store("data/new_level.bin", h_new_level);
    store("data/parent.bin", h_parent);

    cudaFree(d_row_start);
    cudaFree(d_neighbor);
    cudaFree(d_level);
    cudaFree(d_new_level);
    cudaFree(d_parent);
    return 0;
}
