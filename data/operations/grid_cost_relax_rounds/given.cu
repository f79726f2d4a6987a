constexpr int HEIGHT = 60;
constexpr int WIDTH = 75;
constexpr int TOTAL = HEIGHT * WIDTH;
constexpr int ROUNDS = 8;

__global__ void relax_round(const int* cost, const int* reach, int* next, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int i = y * width + x;
    int best = reach[i];
    int c = cost[i];
    if (c > 0) {
        if (y > 0) best = min(best, reach[i - width] + c);
        if (y < height - 1) best = min(best, reach[i + width] + c);
        if (x > 0) best = min(best, reach[i - 1] + c);
        if (x < width - 1) best = min(best, reach[i + 1] + c);
    }
    next[i] = best;
}

int main() {
    int* h_cost = new int[TOTAL];
    read_binary("data/cost.bin", reinterpret_cast<float*>(h_cost), TOTAL);
    int* d_cost;
    cudaMalloc(&d_cost, TOTAL * sizeof(int));
    cudaMemcpy(d_cost, h_cost, TOTAL * sizeof(int), cudaMemcpyHostToDevice);

    int* h_seed = new int[TOTAL];
    read_binary("data/seed.bin", reinterpret_cast<float*>(h_seed), TOTAL);
    int* d_seed;
    cudaMalloc(&d_seed, TOTAL * sizeof(int));
    cudaMemcpy(d_seed, h_seed, TOTAL * sizeof(int), cudaMemcpyHostToDevice);

    int* h_reach = new int[TOTAL];
    int* d_reach;
    cudaMalloc(&d_reach, TOTAL * sizeof(int));
    int* d_scratch;
    cudaMalloc(&d_scratch, TOTAL * sizeof(int));

    dim3 block(32, 8);
    dim3 grid((WIDTH + block.x - 1) / block.x, (HEIGHT + block.y - 1) / block.y);
    const int* current = d_seed;
    for (int round = 0; round < ROUNDS; ++round) {
        int* next = round % 2 == 0 ? d_scratch : d_reach;
        relax_round<<<grid, block>>>(d_cost, current, next, WIDTH, HEIGHT);
        current = next;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_reach, d_reach, TOTAL * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/reach.bin", reinterpret_cast<const float*>(h_reach), TOTAL);

    cudaFree(d_cost);
    delete[] h_cost;
    cudaFree(d_seed);
    delete[] h_seed;
    cudaFree(d_reach);
    delete[] h_reach;
    cudaFree(d_scratch);
    return 0;
}
