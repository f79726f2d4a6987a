const int ROWS = 60;
const int COLS = 40;
const int UPDATES = 400;

__global__ void add_rows(const float* source, const int* target, const float* weight, float* result,
                         int rows, int cols, int total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    int update = i / cols;
    int col = i % cols;
    int row = target[update];
    if (row < 0 || row >= rows) return;
    atomicAdd(&result[row * cols + col], weight[update] * source[i]);
}

int main() {
    const int size = ROWS * COLS;
    const int source_total = UPDATES * COLS;
    const size_t bytes = size * sizeof(float);

    std::vector<float> h_base(size);
    read_binary("data/base.bin", h_base.data(), size);
    float* d_base;
    cudaMalloc(&d_base, bytes);
    cudaMemcpy(d_base, h_base.data(), bytes, cudaMemcpyHostToDevice);

    std::vector<float> h_source(source_total);
    read_binary("data/source.bin", h_source.data(), source_total);
    float* d_source;
    cudaMalloc(&d_source, source_total * sizeof(float));
    cudaMemcpy(d_source, h_source.data(), source_total * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<int> h_target(UPDATES);
    read_binary("data/target.bin", reinterpret_cast<float*>(h_target.data()), UPDATES);
    int* d_target;
    cudaMalloc(&d_target, UPDATES * sizeof(int));
    cudaMemcpy(d_target, h_target.data(), UPDATES * sizeof(int), cudaMemcpyHostToDevice);

    std::vector<float> h_weight(UPDATES);
    read_binary("data/weight.bin", h_weight.data(), UPDATES);
    float* d_weight;
    cudaMalloc(&d_weight, UPDATES * sizeof(float));
    cudaMemcpy(d_weight, h_weight.data(), UPDATES * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<float> h_result(size);
    float* d_result;
    cudaMalloc(&d_result, bytes);

    cudaMemcpy(d_result, d_base, size * sizeof(float), cudaMemcpyDeviceToDevice);
    const int threads = 256;
    const int blocks = (source_total + threads - 1) / threads;
    add_rows<<<blocks, threads>>>(d_source, d_target, d_weight, d_result, ROWS, COLS, source_total);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_result.data(), d_result, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/result.bin", h_result.data(), size);

    cudaFree(d_result);
    cudaFree(d_weight);
    cudaFree(d_target);
    cudaFree(d_source);
    cudaFree(d_base);
    return 0;
}
