const int N = 8000;
const int GRID = 32;

// Heights are multiples of 1/16, so they are kept as integers.
__global__ void collect_points(const float* points, int* count, int* sum, int* highest, int n, int side) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float col = floorf(points[3 * i]);
    float row = floorf(points[3 * i + 1]);
    if (col < 0.0f || col >= (float)side || row < 0.0f || row >= (float)side) return;
    int cell = (int)row * side + (int)col;
    int z = (int)(points[3 * i + 2] * 16.0f);
    atomicAdd(&count[cell], 1);
    atomicAdd(&sum[cell], z);
    atomicMax(&highest[cell], z + 1000);
}

__global__ void finish_cells(const int* count, const int* sum, const int* highest,
                             float* mean_height, float* top, int cells) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cells) return;
    mean_height[c] = 0.0f;
    top[c] = 0.0f;
    if (count[c] > 0) {
        mean_height[c] = (float)sum[c] / 16.0f / (float)count[c];
        top[c] = (float)(highest[c] - 1000) / 16.0f;
    }
}

int main() {
    int n_points = N * 3;
    int n_count = GRID * GRID;
    size_t nbytes = n_count * sizeof(int);

    std::vector<float> h_points(n_points);
    read_binary("data/points.bin", h_points.data(), n_points);

    float* d_points;
    cudaMalloc(&d_points, n_points * sizeof(float));
    cudaMemcpy(d_points, h_points.data(), n_points * sizeof(float), cudaMemcpyHostToDevice);

    int *d_count, *d_sum, *d_highest;
    float *d_mean_height, *d_top;
    cudaMalloc(&d_count, nbytes);
    cudaMalloc(&d_mean_height, n_count * sizeof(float));
    cudaMalloc(&d_top, n_count * sizeof(float));
    cudaMalloc(&d_sum, nbytes);
    cudaMalloc(&d_highest, nbytes);

    cudaMemset(d_count, 0, nbytes);
    cudaMemset(d_sum, 0, nbytes);
    cudaMemset(d_highest, 0, nbytes);
    int block_size = 256;
    collect_points<<<(N + block_size - 1) / block_size, block_size>>>(d_points, d_count, d_sum, d_highest,
        N, GRID);
    finish_cells<<<(GRID * GRID + block_size - 1) / block_size, block_size>>>(d_count, d_sum, d_highest,
        d_mean_height, d_top, GRID * GRID);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(error) << '\n';
        return 1;
    }

    std::vector<int> h_count(n_count);
    std::vector<float> h_mean_height(n_count);
    std::vector<float> h_top(n_count);
    cudaMemcpy(h_count.data(), d_count, nbytes, cudaMemcpyDeviceToHost);
    write_binary("data/count.bin", (float*)h_count.data(), n_count);
    cudaMemcpy(h_mean_height.data(), d_mean_height, n_count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/mean_height.bin", h_mean_height.data(), n_count);
    cudaMemcpy(h_top.data(), d_top, n_count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/top.bin", h_top.data(), n_count);

    cudaFree(d_points);
    cudaFree(d_count);
    cudaFree(d_mean_height);
    cudaFree(d_top);
    cudaFree(d_sum);
    cudaFree(d_highest);
    return 0;
}
