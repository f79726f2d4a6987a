#define ROWS 60
#define COLS 400

__global__ void trapped_water(const int* height, int* water, long long* held, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* h = height + (size_t)r * cols;
    int* w = water + (size_t)r * cols;
    int left = 0;
    for (int c = 0; c < cols; ++c) {
        left = max(left, h[c]);
        w[c] = left;
    }
    int right = 0;
    long long sum = 0;
    for (int c = cols - 1; c >= 0; --c) {
        right = max(right, h[c]);
        w[c] = min(w[c], right) - h[c];
        sum += w[c];
    }
    held[r] = sum;
}

int main() {
    int* h_height = new int[ROWS * COLS];
    read_binary("data/height.bin", reinterpret_cast<float*>(h_height), ROWS * COLS);
    int* d_height;
    cudaMalloc((void**)&d_height, ROWS * COLS * sizeof(int));
    cudaMemcpy(d_height, h_height, ROWS * COLS * sizeof(int), cudaMemcpyHostToDevice);

    int* h_water = new int[ROWS * COLS];
    int* d_water;
    cudaMalloc((void**)&d_water, ROWS * COLS * sizeof(int));
    long long* h_held = new long long[ROWS];
    long long* d_held;
    cudaMalloc((void**)&d_held, ROWS * sizeof(long long));

    const int block_size = 64;
    const int grid_size = (ROWS + block_size - 1) / block_size;
    trapped_water<<<grid_size, block_size>>>(d_height, d_water, d_held, ROWS, COLS);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_water, d_water, ROWS * COLS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_held, d_held, ROWS * sizeof(long long), cudaMemcpyDeviceToHost);
    write_binary("data/water.bin", reinterpret_cast<const float*>(h_water), ROWS * COLS);
    write_binary("data/held.bin", reinterpret_cast<const float*>(h_held), 2 * ROWS);

    cudaFree(d_height);
    cudaFree(d_water);
    cudaFree(d_held);
    delete[] h_height;
    delete[] h_water;
    delete[] h_held;
    return 0;
}
