constexpr int BATCH = 12;
constexpr int N = 60;
constexpr int BLOCK = 128;

__global__ void infinity_norm(const float* a, float* norms, int n) {
    __shared__ float best[BLOCK];
    const float* m = a + (size_t)blockIdx.x * n * n;
    float top = 0.0f;
    for (int i = threadIdx.x; i < n; i += BLOCK) {
        float sum = 0.0f;
        for (int j = 0; j < n; ++j) sum += fabsf(m[i * n + j]);
        top = fmaxf(top, sum);
    }
    best[threadIdx.x] = top;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) norms[blockIdx.x] = best[0];
}

int main() {
    const int count = BATCH * N * N;
    float* h_a = new float[count];
    read_binary("data/a.bin", h_a, count);
    float* h_norms = new float[BATCH];

    float* d_a = nullptr;
    cudaMalloc(&d_a, sizeof(float) * count);
    float* d_norms = nullptr;
    cudaMalloc(&d_norms, sizeof(float) * BATCH);

    cudaMemcpy(d_a, h_a, sizeof(float) * count, cudaMemcpyHostToDevice);

    infinity_norm<<<BATCH, BLOCK>>>(d_a, d_norms, N);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_norms, d_norms, sizeof(float) * BATCH, cudaMemcpyDeviceToHost);
    write_binary("data/norms.bin", h_norms, BATCH);

    cudaFree(d_a);
    cudaFree(d_norms);
    delete[] h_a;
    delete[] h_norms;
    return 0;
}
