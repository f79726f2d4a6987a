static const int ROWS = 60;
static const int COLS = 33;
static const int TOTAL = 400;

__global__ void repeat_rows(const float* x, const int* ends, float* repeated, int* source, int rows, int cols) {
    int i = blockIdx.x;
    int lo = 0, hi = rows - 1;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (ends[mid] > i) hi = mid;
        else lo = mid + 1;
    }
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        repeated[(size_t)i * cols + c] = x[(size_t)lo * cols + c];
    }
    if (threadIdx.x == 0) source[i] = lo;
}

int main() {
    std::vector<float> h_x(ROWS * COLS);
    read_binary("data/x.bin", h_x.data(), ROWS * COLS);
    std::vector<int> h_ends(ROWS);
    read_binary("data/ends.bin", reinterpret_cast<float*>(h_ends.data()), ROWS);
    std::vector<float> h_repeated(TOTAL * COLS);
    std::vector<int> h_source(TOTAL);

    float* d_x;
    int* d_ends;
    float* d_repeated;
    int* d_source;
    cudaMalloc(&d_x, ROWS * COLS * sizeof(float));
    cudaMalloc(&d_ends, ROWS * sizeof(int));
    cudaMalloc(&d_repeated, TOTAL * COLS * sizeof(float));
    cudaMalloc(&d_source, TOTAL * sizeof(int));
    cudaMemcpy(d_x, h_x.data(), ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_ends, h_ends.data(), ROWS * sizeof(int), cudaMemcpyHostToDevice);

    const int threads = 128;
    repeat_rows<<<TOTAL, threads>>>(d_x, d_ends, d_repeated, d_source, ROWS, COLS);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "error" << std::endl;
        return 1;
    }

    cudaMemcpy(h_repeated.data(), d_repeated, TOTAL * COLS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/repeated.bin", h_repeated.data(), TOTAL * COLS);
    cudaMemcpy(h_source.data(), d_source, TOTAL * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/source.bin", reinterpret_cast<const float*>(h_source.data()), TOTAL);

    cudaFree(d_source);
    cudaFree(d_repeated);
    cudaFree(d_ends);
    cudaFree(d_x);
    return 0;
}
