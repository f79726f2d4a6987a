const int NODES = 1000;
const int WIDTH = 6;
const int ROUNDS = 6;

__global__ void relax(const int* origin, const int* cost, const int* before, int* after, int nodes, int width) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes) return;
    int best = before[v];
    for (int k = 0; k < width; ++k) {
        int u = origin[v * width + k];
        if (u >= 0) best = min(best, before[u] + cost[v * width + k]);
    }
    after[v] = best;
}

int main() {
    const size_t length = NODES * WIDTH;
    int* h_origin = new int[length];
    int* h_cost = new int[length];
    int* h_start = new int[NODES];
    int* h_distance = new int[NODES];
    read_binary("data/origin.bin", reinterpret_cast<float*>(h_origin), length);
    read_binary("data/cost.bin", reinterpret_cast<float*>(h_cost), length);
    read_binary("data/start.bin", reinterpret_cast<float*>(h_start), NODES);

    int *d_origin, *d_cost, *d_start, *d_distance, *d_scratch;
    cudaMalloc(&d_origin, length * sizeof(int));
    cudaMalloc(&d_cost, length * sizeof(int));
    cudaMalloc(&d_start, sizeof(int) * NODES);
    cudaMalloc(&d_distance, sizeof(int) * NODES);
    cudaMalloc(&d_scratch, sizeof(int) * NODES);

    cudaMemcpy(d_origin, h_origin, length * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_cost, h_cost, length * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_start, h_start, sizeof(int) * NODES, cudaMemcpyHostToDevice);

    const int threads = 256;
    const int blocks = (NODES + threads - 1) / threads;
    const int* from = d_start;
    for (int r = 0; r < ROUNDS; ++r) {
        int* to = r % 2 == 0 ? d_scratch : d_distance;
        relax<<<blocks, threads>>>(d_origin, d_cost, from, to, NODES, WIDTH);
        from = to;
    }
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "error\n";
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_distance, d_distance, sizeof(int) * NODES, cudaMemcpyDeviceToHost);
    write_binary("data/distance.bin", reinterpret_cast<const float*>(h_distance), NODES);

    delete[] h_origin;
    delete[] h_cost;
    delete[] h_start;
    delete[] h_distance;
    cudaFree(d_origin);
    cudaFree(d_cost);
    cudaFree(d_start);
    cudaFree(d_distance);
    cudaFree(d_scratch);
    return 0;
}
