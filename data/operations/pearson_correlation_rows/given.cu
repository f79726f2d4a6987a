const int ROWS = 24;
const int COLS = 600;
const int THREADS = 256;

__device__ float reduce_sum(float value, float* buffer) {
    int tid = threadIdx.x;
    __syncthreads();
    buffer[tid] = value;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (tid < stride) buffer[tid] += buffer[tid + stride];
        __syncthreads();
    }
    return buffer[0];
}

__global__ void pearson_rows(const float* x, const float* y, float* corr, int cols) {
    __shared__ float buffer[THREADS];
    const float* xr = x + (size_t)blockIdx.x * cols;
    const float* yr = y + (size_t)blockIdx.x * cols;
    float sx = 0.0f, sy = 0.0f;
    for (int c = threadIdx.x; c < cols; c += THREADS) {
        sx += xr[c];
        sy += yr[c];
    }
    float mx = reduce_sum(sx, buffer) / cols;
    float my = reduce_sum(sy, buffer) / cols;
    float sxx = 0.0f, syy = 0.0f, sxy = 0.0f;
    for (int c = threadIdx.x; c < cols; c += THREADS) {
        float dx = xr[c] - mx;
        float dy = yr[c] - my;
        sxx += dx * dx;
        syy += dy * dy;
        sxy += dx * dy;
    }
    sxx = reduce_sum(sxx, buffer);
    syy = reduce_sum(syy, buffer);
    sxy = reduce_sum(sxy, buffer);
    if (threadIdx.x == 0) {
        bool constant = sxx < 1e-12f || syy < 1e-12f;
        corr[blockIdx.x] = constant ? 0.0f : sxy / (sqrtf(sxx) * sqrtf(syy));
    }
}

int main() {
    const size_t size = (size_t)ROWS * COLS;
    size_t nbytes = size * sizeof(float);

    float* h_x = new float[size];
    float* h_y = new float[size];
    read_binary("data/x.bin", h_x, size);
    read_binary("data/y.bin", h_y, size);

    float* d_x = nullptr;
    float* d_y = nullptr;
    cudaMalloc(&d_x, nbytes);
    cudaMalloc(&d_y, nbytes);
    cudaMemcpy(d_x, h_x, nbytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_y, h_y, nbytes, cudaMemcpyHostToDevice);

    float* d_corr = nullptr;
    cudaMalloc(&d_corr, ROWS * sizeof(float));

    pearson_rows<<<ROWS, THREADS>>>(d_x, d_y, d_corr, COLS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA failure: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    float* h_corr = new float[ROWS];
    cudaMemcpy(h_corr, d_corr, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/corr.bin", h_corr, ROWS);

    delete[] h_x;
    delete[] h_y;
    delete[] h_corr;
    cudaFree(d_x);
    cudaFree(d_y);
    cudaFree(d_corr);
    return 0;
}
