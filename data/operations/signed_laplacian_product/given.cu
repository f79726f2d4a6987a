#define NODES 700
#define ENTRIES 5000

__global__ void signed_laplacian(const int* row_start, const int* neighbor, const float* weight,
                                 const float* x, float* y, int nodes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nodes) {
        float own = x[i];
        float sum = 0.0f;
        for (int k = row_start[i]; k < row_start[i + 1]; ++k) {
            sum += fabsf(weight[k]) * own - weight[k] * x[neighbor[k]];
        }
        y[i] = sum;
    }
}

int main() {
    const size_t size = NODES + 1;

    std::vector<int> h_row_start(size);
    std::vector<int> h_neighbor(ENTRIES);
    std::vector<float> h_weight(ENTRIES);
    std::vector<float> h_x(NODES);
    std::vector<float> h_y(NODES);
    read_binary("data/row_start.bin", reinterpret_cast<float*>(h_row_start.data()), size);
    read_binary("data/neighbor.bin", reinterpret_cast<float*>(h_neighbor.data()), ENTRIES);
    read_binary("data/weight.bin", h_weight.data(), ENTRIES);
    read_binary("data/x.bin", h_x.data(), NODES);

    int *d_row_start, *d_neighbor;
    float *d_weight, *d_x, *d_y;
    cudaMalloc(&d_row_start, size * sizeof(int));
    cudaMalloc(&d_neighbor, sizeof(int) * ENTRIES);
    cudaMalloc(&d_weight, sizeof(float) * ENTRIES);
    cudaMalloc(&d_x, sizeof(float) * NODES);
    cudaMalloc(&d_y, sizeof(float) * NODES);

    cudaMemcpy(d_row_start, h_row_start.data(), size * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_neighbor, h_neighbor.data(), sizeof(int) * ENTRIES, cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight.data(), sizeof(float) * ENTRIES, cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, h_x.data(), sizeof(float) * NODES, cudaMemcpyHostToDevice);

    int block = 256;
    int grid = (NODES + block - 1) / block;
    signed_laplacian<<<grid, block>>>(d_row_start, d_neighbor, d_weight, d_x, d_y, NODES);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y.data(), d_y, sizeof(float) * NODES, cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y.data(), NODES);

    cudaFree(d_y);
    cudaFree(d_x);
    cudaFree(d_weight);
    cudaFree(d_neighbor);
    cudaFree(d_row_start);
    return 0;
}
