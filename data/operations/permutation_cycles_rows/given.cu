const int ROWS = 300;
const int SIZE = 24;

__global__ void count_cycles(const int* next_index, int* cycle_count, int* longest, int* sign, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* next = next_index + r * SIZE;
    bool seen[SIZE];
    for (int i = 0; i < SIZE; ++i) seen[i] = false;
    int cycles = 0;
    int best = 0;
    for (int i = 0; i < SIZE; ++i) {
        int length = 0;
        for (int j = i; !seen[j]; j = next[j]) {
            seen[j] = true;
            ++length;
        }
        if (length > 0) ++cycles;
        best = max(best, length);
    }
    cycle_count[r] = cycles;
    longest[r] = best;
    sign[r] = (SIZE - cycles) % 2 == 0 ? 1 : -1;
}

int main() {
    const int size = ROWS * SIZE;

    int* h_next_index = new int[size];
    read_binary("data/next_index.bin", reinterpret_cast<float*>(h_next_index), size);
    int* d_next_index;
    cudaMalloc(&d_next_index, size * sizeof(int));
    cudaMemcpy(d_next_index, h_next_index, size * sizeof(int), cudaMemcpyHostToDevice);

    int* h_cycle_count = new int[ROWS];
    int* d_cycle_count;
    cudaMalloc(&d_cycle_count, sizeof(int) * ROWS);
    int* h_longest = new int[ROWS];
    int* d_longest;
    cudaMalloc(&d_longest, sizeof(int) * ROWS);
    int* h_sign = new int[ROWS];
    int* d_sign;
    cudaMalloc(&d_sign, sizeof(int) * ROWS);

    int block = 128;
    int grid = (ROWS + block - 1) / block;
    count_cycles<<<grid, block>>>(d_next_index, d_cycle_count, d_longest, d_sign, ROWS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_cycle_count, d_cycle_count, sizeof(int) * ROWS, cudaMemcpyDeviceToHost);
    write_binary("data/cycle_count.bin", reinterpret_cast<const float*>(h_cycle_count), ROWS);
    cudaMemcpy(h_longest, d_longest, sizeof(int) * ROWS, cudaMemcpyDeviceToHost);
    write_binary("data/longest.bin", reinterpret_cast<const float*>(h_longest), ROWS);
    cudaMemcpy(h_sign, d_sign, sizeof(int) * ROWS, cudaMemcpyDeviceToHost);
    write_binary("data/sign.bin", reinterpret_cast<const float*>(h_sign), ROWS);

    cudaFree(d_next_index);
    delete[] h_next_index;
    cudaFree(d_cycle_count);
    delete[] h_cycle_count;
    cudaFree(d_longest);
    delete[] h_longest;
    cudaFree(d_sign);
    delete[] h_sign;
    return 0;
}
