#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int NODES = 500;
const int ENTRIES = 4000;

__global__ void find_reverse(const int* row_start, const int* neighbor, int* reverse, int* mutual) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= NODES) return;
    int count = 0;
    for (int k = row_start[v]; k < row_start[v + 1]; ++k) {
        int u = neighbor[k];
        int position = -1;
        for (int j = row_start[u]; j < row_start[u + 1]; ++j) {
            if (neighbor[j] == v) {
                position = j;
                break;
            }
        }
        reverse[k] = position;
        if (position >= 0) ++count;
    }
    mutual[v] = count;
}

int main() {
    std::vector<int> h_row_start(NODES + 1);
    std::vector<int> h_neighbor(ENTRIES);
    std::vector<int> h_reverse(ENTRIES);
    std::vector<int> h_mutual(NODES);
    std::ifstream in_row_start("data/row_start.bin", std::ios::binary);
    if (!in_row_start.read((char*)h_row_start.data(), (NODES + 1) * sizeof(int))) return 1;
    std::ifstream in_neighbor("data/neighbor.bin", std::ios::binary);
    if (!in_neighbor.read((char*)h_neighbor.data(), ENTRIES * sizeof(int))) return 1;
    int *d_row_start, *d_neighbor, *d_reverse, *d_mutual;
    cudaMalloc(&d_row_start, (NODES + 1) * sizeof(int));
    cudaMalloc(&d_neighbor, ENTRIES * sizeof(int));
    cudaMalloc(&d_reverse, ENTRIES * sizeof(int));
    cudaMalloc(&d_mutual, NODES * sizeof(int));
    cudaMemcpy(d_row_start, h_row_start.data(), (NODES + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_neighbor, h_neighbor.data(), ENTRIES * sizeof(int), cudaMemcpyHostToDevice);
    find_reverse<<<(NODES + 127) / 128, 128>>>(d_row_start, d_neighbor, d_reverse, d_mutual);
    cudaMemcpy(h_reverse.data(), d_reverse, ENTRIES * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_mutual.data(), d_mutual, NODES * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/reverse.bin", std::ios::binary).write((char*)h_reverse.data(), ENTRIES * sizeof(int));
    std::ofstream("data/mutual.bin", std::ios::binary).write((char*)h_mutual.data(), NODES * sizeof(int));
    cudaFree(d_row_start); cudaFree(d_neighbor); cudaFree(d_reverse); cudaFree(d_mutual);
    return 0;
}
