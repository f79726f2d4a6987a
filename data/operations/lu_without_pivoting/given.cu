#define BATCH 40
#define N 20

// One block per matrix; thread i owns row i.
__global__ void lu_factor(const float* a, float* lu) {
    __shared__ float m[N][N + 1];
    int i = threadIdx.x;
    const float* src = a + (size_t)blockIdx.x * N * N;
    for (int r = 0; r < N; ++r) m[r][i] = src[r * N + i];
    __syncthreads();
    for (int k = 0; k < N - 1; ++k) {
        if (i > k) {
            float f = m[i][k] / m[k][k];
            m[i][k] = f;
            for (int j = k + 1; j < N; ++j) m[i][j] -= f * m[k][j];
        }
        __syncthreads();
    }
    float* dst = lu + (size_t)blockIdx.x * N * N;
    for (int r = 0; r < N; ++r) dst[r * N + i] = m[r][i];
}

int main() {
    const int total = BATCH * N * N;
    const size_t buffer_bytes = total * sizeof(float);
    float* h_a = new float[total];
    read_binary("data/a.bin", h_a, total);
    float* d_a = nullptr;
    cudaMalloc(&d_a, buffer_bytes);
    cudaMemcpy(d_a, h_a, buffer_bytes, cudaMemcpyHostToDevice);

    float* h_lu = new float[total];
    float* d_lu = nullptr;
    cudaMalloc(&d_lu, buffer_bytes);

    dim3 grid(BATCH);
    dim3 block(N);
    lu_factor<<<grid, block>>>(d_a, d_lu);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_lu, d_lu, buffer_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/lu.bin", h_lu, total);

    cudaFree(d_a);
    cudaFree(d_lu);
    delete[] h_a;
    delete[] h_lu;
    return 0;
}
