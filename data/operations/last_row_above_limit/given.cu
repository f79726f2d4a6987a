constexpr int ROWS = 150;
constexpr int COLS = 200;

__global__ void last_above(const float* x, const float* limit, int* last, int* hits, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float bound = limit[c];
    int where = -1;
    int count = 0;
    for (int r = 0; r < rows; ++r) {
        if (x[(size_t)r * cols + c] > bound) {
            where = r;
            ++count;
        }
    }
    last[c] = where;
    hits[c] = count;
}

int main() {
    const size_t total = (size_t)ROWS * COLS;

    std::vector<float> h_x(total);
    std::vector<float> h_limit(COLS);
    std::vector<int> h_last(COLS);
    std::vector<int> h_hits(COLS);
    read_binary("data/x.bin", h_x.data(), total);
    read_binary("data/limit.bin", h_limit.data(), COLS);

    float* d_x;
    float* d_limit;
    int* d_last;
    int* d_hits;
    cudaMalloc(&d_x, total * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_limit, COLS * sizeof(float));
    cudaMemcpy(d_limit, h_limit.data(), COLS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_last, COLS * sizeof(int));
    cudaMalloc(&d_hits, COLS * sizeof(int));

    dim3 block(512);
    dim3 grid((COLS + 512 - 1) / 512);
    last_above<<<grid, block>>>(d_x, d_limit, d_last, d_hits, ROWS, COLS);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "launch error" << std::endl;
        return 1;
    }

    cudaMemcpy(h_last.data(), d_last, COLS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_hits.data(), d_hits, COLS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/last.bin", reinterpret_cast<const float*>(h_last.data()), COLS);
    write_binary("data/hits.bin", reinterpret_cast<const float*>(h_hits.data()), COLS);
    cudaFree(d_x);
    cudaFree(d_limit);
    cudaFree(d_last);
    cudaFree(d_hits);
    return 0;
}
