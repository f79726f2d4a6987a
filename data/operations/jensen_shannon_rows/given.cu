const int ROWS = 150;
const int BINS = 100;

__global__ void jensen_shannon(const float* p, const float* q, float* divergence, int bins) {
    __shared__ float partial[128];
    int tid = threadIdx.x;
    const float* p_row = p + (size_t)blockIdx.x * bins;
    const float* q_row = q + (size_t)blockIdx.x * bins;
    float sum = 0.0f;
    for (int k = tid; k < bins; k += blockDim.x) {
        float m = 0.5f * (p_row[k] + q_row[k]);
        if (p_row[k] > 0.0f) sum += p_row[k] * log2f(p_row[k] / m);
        if (q_row[k] > 0.0f) sum += q_row[k] * log2f(q_row[k] / m);
    }
    partial[tid] = sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride) partial[tid] += partial[tid + stride];
        __syncthreads();
    }
    if (tid == 0) divergence[blockIdx.x] = 0.5f * partial[0];
}

int main() {
    const int count = ROWS * BINS;
    const size_t size_bytes = count * sizeof(float);

    std::vector<float> h_p(count);
    std::vector<float> h_q(count);
    std::vector<float> h_divergence(ROWS);

    read_binary("data/p.bin", h_p.data(), count);
    read_binary("data/q.bin", h_q.data(), count);

    float* d_p = nullptr;
    float* d_q = nullptr;
    float* d_divergence = nullptr;
    cudaMalloc(&d_p, size_bytes);
    cudaMalloc(&d_q, size_bytes);
    cudaMalloc(&d_divergence, sizeof(float) * ROWS);

    cudaMemcpy(d_p, h_p.data(), size_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_q, h_q.data(), size_bytes, cudaMemcpyHostToDevice);

    int blockSize = 128;
    jensen_shannon<<<ROWS, blockSize>>>(d_p, d_q, d_divergence, BINS);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_divergence.data(), d_divergence, sizeof(float) * ROWS, cudaMemcpyDeviceToHost);
    write_binary("data/divergence.bin", h_divergence.data(), ROWS);

    cudaFree(d_p);
    cudaFree(d_q);
    cudaFree(d_divergence);
    return 0;
}
