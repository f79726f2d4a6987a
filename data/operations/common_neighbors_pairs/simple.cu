#include <string>
#include <cstdlib>
#include <cstdio>
#include <cuda_runtime.h>

void load(const std::string& filename, int* data, size_t count) {
    FILE* f = fopen(filename.c_str(), "rb");
    if (f == nullptr || fread(data, 1, count * sizeof(int), f) != count * sizeof(int)) {
        fprintf(stderr, "cannot read %s\n", filename.c_str());
        exit(1);
    }
    fclose(f);
}

void save(const std::string& filename, const int* data, size_t count) {
    FILE* f = fopen(filename.c_str(), "wb");
    if (f == nullptr || fwrite(data, 1, count * sizeof(int), f) != count * sizeof(int)) {
        fprintf(stderr, "cannot write %s\n", filename.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

const int NODES = 300;
const int EDGES = 5000;
const int PAIRS = 700;

__global__ void intersect(const int* row_start, const int* neighbor, const int* pair, int* common, int* first) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= PAIRS) return;
    int a = pair[2 * p], b = pair[2 * p + 1];
    int i = row_start[a], i_end = row_start[a + 1];
    int j = row_start[b], j_end = row_start[b + 1];
    int count = 0, smallest = -1;
    while (i < i_end && j < j_end) {
        int u = neighbor[i], w = neighbor[j];
        if (u == w) {
            if (count == 0) smallest = u;
            ++count;
        }
        if (u <= w) ++i;
        if (w <= u) ++j;
    }
    common[p] = count;
    first[p] = smallest;
}

int main() {
    int* h_row_start = new int[NODES + 1];
    int* h_neighbor = new int[EDGES];
    int* h_pair = new int[PAIRS * 2];
    int* h_common = new int[PAIRS];
    int* h_first = new int[PAIRS];
    load("data/row_start.bin", h_row_start, NODES + 1);
    load("data/neighbor.bin", h_neighbor, EDGES);
    load("data/pair.bin", h_pair, PAIRS * 2);

    int* d_row_start;
    int* d_neighbor;
    int* d_pair;
    int* d_common;
    int* d_first;
    cudaMalloc(&d_row_start, (NODES + 1) * sizeof(int));
    cudaMalloc(&d_neighbor, EDGES * sizeof(int));
    cudaMalloc(&d_pair, PAIRS * 2 * sizeof(int));
    cudaMalloc(&d_common, PAIRS * sizeof(int));
    cudaMalloc(&d_first, PAIRS * sizeof(int));
    cudaMemcpy(d_row_start, h_row_start, (NODES + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_neighbor, h_neighbor, EDGES * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_pair, h_pair, PAIRS * 2 * sizeof(int), cudaMemcpyHostToDevice);

    const int block_size = 128;
    intersect<<<(PAIRS + block_size - 1) / block_size, block_size>>>(d_row_start, d_neighbor, d_pair,
            d_common, d_first);
    cudaMemcpy(h_common, d_common, PAIRS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_first, d_first, PAIRS * sizeof(int), cudaMemcpyDeviceToHost);

    save("data/common.bin", h_common, PAIRS);
    save("data/first.bin", h_first, PAIRS);

    cudaFree(d_row_start);
    cudaFree(d_neighbor);
    cudaFree(d_pair);
    cudaFree(d_common);
    cudaFree(d_first);
    delete[] h_row_start;
    delete[] h_neighbor;
    delete[] h_pair;
    delete[] h_common;
    delete[] h_first;
    return 0;
}
