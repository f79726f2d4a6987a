#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int HEIGHT = 60;
constexpr int WIDTH = 75;
constexpr int TOTAL = HEIGHT * WIDTH;
constexpr int ROUNDS = 8;

__global__ void relax_round(const int* cost, const int* d, int* next) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    int i = y * WIDTH + x;
    int best = d[i];
    int c = cost[i];
    if (c > 0) {
        if (y > 0) best = min(best, d[i - WIDTH] + c);
        if (y < HEIGHT - 1) best = min(best, d[i + WIDTH] + c);
        if (x > 0) best = min(best, d[i - 1] + c);
        if (x < WIDTH - 1) best = min(best, d[i + 1] + c);
    }
    next[i] = best;
}

void compute(const int* cost_d, const int* seed_d, int* reach_d, int* temp_d) {
    dim3 block(32, 8);
    dim3 grid((WIDTH + 31) / 32, (HEIGHT + 7) / 8);
    const int* current = seed_d;
    for (int round = 0; round < ROUNDS; ++round) {
        int* next = round % 2 ? reach_d : temp_d;
        relax_round<<<grid, block>>>(cost_d, current, next);
        current = next;
    }
}

int main() {
    std::vector<int> host_cost(TOTAL);
    std::vector<int> host_seed(TOTAL);
    std::vector<int> host_reach(TOTAL);
    FILE* in0 = fopen("data/cost.bin", "rb");
    if (!in0 || fread(host_cost.data(), sizeof(int), host_cost.size(), in0) != host_cost.size()) {
        fprintf(stderr, "cannot read data/cost.bin\n");
        return 1;
    }
    fclose(in0);
    FILE* in1 = fopen("data/seed.bin", "rb");
    if (!in1 || fread(host_seed.data(), sizeof(int), host_seed.size(), in1) != host_seed.size()) {
        fprintf(stderr, "cannot read data/seed.bin\n");
        return 1;
    }
    fclose(in1);

    int *cost_d, *seed_d, *reach_d, *temp_d;
    cudaMalloc(&cost_d, TOTAL * sizeof(int));
    cudaMalloc(&seed_d, TOTAL * sizeof(int));
    cudaMalloc(&reach_d, TOTAL * sizeof(int));
    cudaMalloc(&temp_d, TOTAL * sizeof(int));
    cudaMemcpy(cost_d, host_cost.data(), TOTAL * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(seed_d, host_seed.data(), TOTAL * sizeof(int), cudaMemcpyHostToDevice);
    compute(cost_d, seed_d, reach_d, temp_d);
    cudaMemcpy(host_reach.data(), reach_d, TOTAL * sizeof(int), cudaMemcpyDeviceToHost);

    FILE* out0 = fopen("data/reach.bin", "wb");
    fwrite(host_reach.data(), sizeof(int), host_reach.size(), out0);
    fclose(out0);

    cudaFree(cost_d);
    cudaFree(seed_d);
    cudaFree(reach_d);
    cudaFree(temp_d);
}
