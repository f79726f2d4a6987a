static const int ROWS = 48;
static const int COLS = 777;
static const int BLOCK = 256;

__global__ void signed_peak(const float* x, float* peak, int* where, int cols) {
    __shared__ float mag[BLOCK];
    __shared__ int pos[BLOCK];
    const float* row = x + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    float best = -1.0f;
    int at = cols;
    for (int c = t; c < cols; c += BLOCK) {
        float a = fabsf(row[c]);
        if (a > best) {
            best = a;
            at = c;
        }
    }
    mag[t] = best;
    pos[t] = at;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) {
            if (mag[t + s] > mag[t] || (mag[t + s] == mag[t] && pos[t + s] < pos[t])) {
                mag[t] = mag[t + s];
                pos[t] = pos[t + s];
            }
        }
        __syncthreads();
    }
    if (t == 0) {
        peak[blockIdx.x] = row[pos[0]];
        where[blockIdx.x] = pos[0];
    }
}

int main() {
    int size = ROWS * COLS;
    float* h_x = new float[size];
    float* h_peak = new float[ROWS];
    int* h_where = new int[ROWS];
    read_binary("data/x.bin", h_x, size);

    float* d_x = nullptr;
    float* d_peak = nullptr;
    int* d_where = nullptr;
    cudaMalloc(&d_x, sizeof(float) * size);
    cudaMalloc(&d_peak, sizeof(float) * ROWS);
    cudaMalloc(&d_where, sizeof(int) * ROWS);
    cudaMemcpy(d_x, h_x, sizeof(float) * size, cudaMemcpyHostToDevice);

    signed_peak<<<ROWS, BLOCK>>>(d_x, d_peak, d_where, COLS);
    cudaError_t err = cudaGetLastError();
    if (err == cudaSuccess) err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "error in the kernel: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_peak, d_peak, sizeof(float) * ROWS, cudaMemcpyDeviceToHost);
    write_binary("data/peak.bin", h_peak, ROWS);
    cudaMemcpy(h_where, d_where, sizeof(int) * ROWS, cudaMemcpyDeviceToHost);
    write_binary("data/where.bin", reinterpret_cast<const float*>(h_where), ROWS);
    cudaFree(d_x);
    cudaFree(d_peak);
    cudaFree(d_where);
    delete[] h_x;
    delete[] h_peak;
    delete[] h_where;
    return 0;
}
