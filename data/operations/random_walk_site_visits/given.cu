#define WALKERS 500
#define MOVES 100
#define SIDE 64

__global__ void walk(const int* start, const unsigned char* draws, int* visits, int* final_site,
                     int walkers, int moves, int side) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= walkers) return;
    int row = start[k] / side;
    int col = start[k] % side;
    atomicAdd(&visits[row * side + col], 1);
    for (int m = 0; m < moves; ++m) {
        int move = draws[k * moves + m] % 4;
        if (move == 0) col = (col + 1) % side;
        if (move == 1) col = (col + side - 1) % side;
        if (move == 2) row = (row + 1) % side;
        if (move == 3) row = (row + side - 1) % side;
        atomicAdd(&visits[row * side + col], 1);
    }
    final_site[k] = row * side + col;
}

int main() {
    const int draws_count = WALKERS * MOVES;
    const size_t draws_floats = (draws_count + 3) / 4;

    int* h_start = new int[WALKERS];
    read_binary("data/start.bin", reinterpret_cast<float*>(h_start), WALKERS);
    unsigned char* h_draws = new unsigned char[4 * draws_floats];
    read_binary("data/draws.bin", reinterpret_cast<float*>(h_draws), draws_floats);
    int* h_visits = new int[SIDE * SIDE];
    int* h_final_site = new int[WALKERS];

    int* d_start = nullptr;
    unsigned char* d_draws = nullptr;
    int* d_visits = nullptr;
    int* d_final_site = nullptr;
    cudaMalloc(&d_start, WALKERS * sizeof(int));
    cudaMalloc(&d_draws, draws_count * sizeof(unsigned char));
    cudaMalloc(&d_visits, SIDE * SIDE * sizeof(int));
    cudaMalloc(&d_final_site, WALKERS * sizeof(int));
    cudaMemcpy(d_start, h_start, WALKERS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_draws, h_draws, draws_count * sizeof(unsigned char), cudaMemcpyHostToDevice);

    cudaMemset(d_visits, 0, SIDE * SIDE * sizeof(int));
    const int threads = 128;
    const int blocks = (WALKERS + threads - 1) / threads;
    walk<<<blocks, threads>>>(d_start, d_draws, d_visits, d_final_site, WALKERS, MOVES, SIDE);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "random kernel: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_visits, d_visits, SIDE * SIDE * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_final_site, d_final_site, WALKERS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/visits.bin", reinterpret_cast<const float*>(h_visits), SIDE * SIDE);
    write_binary("data/final_site.bin", reinterpret_cast<const float*>(h_final_site), WALKERS);

    cudaFree(d_start);
    cudaFree(d_draws);
    cudaFree(d_visits);
    cudaFree(d_final_site);
    delete[] h_start;
    delete[] h_draws;
    delete[] h_visits;
    delete[] h_final_site;
    return 0;
}
