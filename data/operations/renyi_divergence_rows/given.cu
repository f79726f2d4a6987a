#define ROWS 120
#define BINS 128

__global__ void renyi_rows(const float* p, const float* q, const float* order, float* divergence, int bins) {
    __shared__ float partial[128];
    int tid = threadIdx.x;
    int row = blockIdx.x;
    float a = order[row];
    float sum = 0.0f;
    for (int k = tid; k < bins; k += blockDim.x) {
        float pk = p[(size_t)row * bins + k];
        float qk = q[(size_t)row * bins + k];
        if (pk > 0.0f) {
            if (a == 1.0f) {
                sum += pk * logf(pk / qk);
            } else {
                sum += powf(pk, a) * powf(qk, 1.0f - a);
            }
        }
    }
    partial[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) partial[tid] += partial[tid + s];
        __syncthreads();
    }
    if (tid == 0) divergence[row] = a == 1.0f ? partial[0] : logf(partial[0]) / (a - 1.0f);
}

int main() {
    int total = ROWS * BINS;
    size_t size_bytes = total * sizeof(float);

    float* h_p = new float[total];
    read_binary("data/p.bin", h_p, total);
    float* d_p;
    cudaMalloc(&d_p, size_bytes);
    cudaMemcpy(d_p, h_p, size_bytes, cudaMemcpyHostToDevice);

    float* h_q = new float[total];
    read_binary("data/q.bin", h_q, total);
    float* d_q;
    cudaMalloc(&d_q, size_bytes);
    cudaMemcpy(d_q, h_q, size_bytes, cudaMemcpyHostToDevice);

    float* h_order = new float[ROWS];
    read_binary("data/order.bin", h_order, ROWS);
    float* d_order;
    cudaMalloc(&d_order, ROWS * sizeof(float));
    cudaMemcpy(d_order, h_order, ROWS * sizeof(float), cudaMemcpyHostToDevice);

    float* h_divergence = new float[ROWS];
    float* d_divergence;
    cudaMalloc(&d_divergence, ROWS * sizeof(float));

    renyi_rows<<<ROWS, 128>>>(d_p, d_q, d_order, d_divergence, BINS);

    cudaMemcpy(h_divergence, d_divergence, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/divergence.bin", h_divergence, ROWS);

    cudaFree(d_p);
    cudaFree(d_q);
    cudaFree(d_order);
    cudaFree(d_divergence);
    delete[] h_p;
    delete[] h_q;
    delete[] h_order;
    delete[] h_divergence;
    return 0;
}
