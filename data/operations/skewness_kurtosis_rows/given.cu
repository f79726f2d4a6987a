#define ROWS 30
#define COLS 900
#define BLOCK 256

__device__ float block_sum(float v, float* buf) {
    int t = threadIdx.x;
    __syncthreads();
    buf[t] = v;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) buf[t] += buf[t + s];
        __syncthreads();
    }
    return buf[0];
}

__global__ void shape_statistics(const float* x, float* skew, float* kurt, int cols) {
    __shared__ float buf[BLOCK];
    const float* row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) sum += row[c];
    float mean = block_sum(sum, buf) / cols;
    float s2 = 0.0f, s3 = 0.0f, s4 = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
        float d = row[c] - mean;
        float d2 = d * d;
        s2 += d2;
        s3 += d2 * d;
        s4 += d2 * d2;
    }
    float m2 = block_sum(s2, buf) / cols;
    float m3 = block_sum(s3, buf) / cols;
    float m4 = block_sum(s4, buf) / cols;
    if (threadIdx.x == 0) {
        skew[blockIdx.x] = m3 / (m2 * sqrtf(m2));
        kurt[blockIdx.x] = m4 / (m2 * m2) - 3.0f;
    }
}

int main() {
    const int n = ROWS * COLS;

    float* h_x = new float[n];
    read_binary("data/x.bin", h_x, n);

    float* d_x = nullptr;
    cudaMalloc(&d_x, sizeof(float) * n);
    float* d_skew = nullptr;
    cudaMalloc(&d_skew, sizeof(float) * ROWS);
    float* d_kurt = nullptr;
    cudaMalloc(&d_kurt, sizeof(float) * ROWS);
    cudaMemcpy(d_x, h_x, sizeof(float) * n, cudaMemcpyHostToDevice);

    const int blocks = ROWS;
    shape_statistics<<<blocks, BLOCK>>>(d_x, d_skew, d_kurt, COLS);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "kernel launch failed\n";
        return 1;
    }

    float* h_skew = new float[ROWS];
    float* h_kurt = new float[ROWS];
    cudaMemcpy(h_skew, d_skew, sizeof(float) * ROWS, cudaMemcpyDeviceToHost);
    write_binary("data/skew.bin", h_skew, ROWS);
    cudaMemcpy(h_kurt, d_kurt, sizeof(float) * ROWS, cudaMemcpyDeviceToHost);
    write_binary("data/kurt.bin", h_kurt, ROWS);
    cudaFree(d_x);
    cudaFree(d_skew);
    cudaFree(d_kurt);
    delete[] h_x;
    delete[] h_skew;
    delete[] h_kurt;
    return 0;
}
