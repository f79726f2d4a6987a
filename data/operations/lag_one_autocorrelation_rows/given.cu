const int ROWS = 44;
const int COLS = 512;
const int BLOCK = 128;

__device__ float block_sum(float value, float* shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) shared[threadIdx.x] += shared[threadIdx.x + s];
        __syncthreads();
    }
    float sum = shared[0];
    __syncthreads();
    return sum;
}

__global__ void lag_one(const float* x, float* rho, float* dw, int cols) {
    __shared__ float shared[BLOCK];
    const float* row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) sum += row[c];
    float m = block_sum(sum, shared) / cols;
    float squares = 0.0f, products = 0.0f, steps = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
        float a = row[c] - m;
        squares += a * a;
        if (c < cols - 1) {
            float step = row[c + 1] - row[c];
            products += a * (row[c + 1] - m);
            steps += step * step;
        }
    }
    squares = block_sum(squares, shared);
    products = block_sum(products, shared);
    steps = block_sum(steps, shared);
    if (threadIdx.x == 0) {
        rho[blockIdx.x] = products / squares;
        dw[blockIdx.x] = steps / squares;
    }
}

int main() {
    const int numel = ROWS * COLS;

    std::vector<float> h_x(numel);
    read_binary("data/x.bin", h_x.data(), numel);
    float* d_x = nullptr;
    cudaMalloc(&d_x, numel * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), numel * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<float> h_rho(ROWS);
    float* d_rho = nullptr;
    cudaMalloc(&d_rho, ROWS * sizeof(float));
    std::vector<float> h_dw(ROWS);
    float* d_dw = nullptr;
    cudaMalloc(&d_dw, ROWS * sizeof(float));

    lag_one<<<ROWS, BLOCK>>>(d_x, d_rho, d_dw, COLS);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_rho.data(), d_rho, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_dw.data(), d_dw, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/rho.bin", h_rho.data(), ROWS);
    write_binary("data/dw.bin", h_dw.data(), ROWS);

    cudaFree(d_x);
    cudaFree(d_rho);
    cudaFree(d_dw);
    return 0;
}
