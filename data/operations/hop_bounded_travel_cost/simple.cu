#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

const int NODES = 1000;
const int WIDTH = 6;
const int ROUNDS = 6;

__global__ void relax(const int* origin, const int* cost, const int* before, int* after) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= NODES) return;
    int best = before[v];
    for (int k = 0; k < WIDTH; ++k) {
        int u = origin[v * WIDTH + k];
        if (u >= 0) best = min(best, before[u] + cost[v * WIDTH + k]);
    }
    after[v] = best;
}

int main() {
    std::vector<int> h_origin(NODES * WIDTH), h_cost(NODES * WIDTH), h_start(NODES), h_distance(NODES);
    FILE* f0 = fopen("data/origin.bin", "rb");
    if (!f0 || fread(h_origin.data(), sizeof(int), NODES * WIDTH, f0) != NODES * WIDTH) return 1;
    FILE* f1 = fopen("data/cost.bin", "rb");
    if (!f1 || fread(h_cost.data(), sizeof(int), NODES * WIDTH, f1) != NODES * WIDTH) return 1;
    FILE* f2 = fopen("data/start.bin", "rb");
    if (!f2 || fread(h_start.data(), sizeof(int), NODES, f2) != NODES) return 1;
    fclose(f0); fclose(f1); fclose(f2);
    int* d_origin;
    int* d_cost;
    int* d_start;
    int* d_distance;
    int* d_other;
    cudaMalloc(&d_origin, NODES * WIDTH * sizeof(int));
    cudaMalloc(&d_cost, NODES * WIDTH * sizeof(int));
    cudaMalloc(&d_start, NODES * sizeof(int));
    cudaMalloc(&d_distance, NODES * sizeof(int));
    cudaMalloc(&d_other, NODES * sizeof(int));
    cudaMemcpy(d_origin, h_origin.data(), NODES * WIDTH * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_cost, h_cost.data(), NODES * WIDTH * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_start, h_start.data(), NODES * sizeof(int), cudaMemcpyHostToDevice);
    const int* from = d_start;
    for (int r = 0; r < ROUNDS; ++r) {
        int* to = r % 2 == 0 ? d_other : d_distance;
        relax<<<(NODES + 255) / 256, 256>>>(d_origin, d_cost, from, to);
        from = to;
    }
    cudaMemcpy(h_distance.data(), d_distance, NODES * sizeof(int), cudaMemcpyDeviceToHost);
    FILE* o0 = fopen("data/distance.bin", "wb");
    fwrite(h_distance.data(), sizeof(int), NODES, o0);
    fclose(o0);
    return 0;
}
