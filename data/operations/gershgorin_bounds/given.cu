#define BATCH 20
#define N 50
#define BLOCK 128

__global__ void gershgorin(const float* a, float* bounds, int* dominant, int n) {
    __shared__ float low[BLOCK], high[BLOCK];
    __shared__ int rows[BLOCK];
    int t = threadIdx.x;
    const float* m = a + (size_t)blockIdx.x * n * n;
    low[t] = FLT_MAX;
    high[t] = -FLT_MAX;
    rows[t] = 0;
    for (int i = t; i < n; i += BLOCK) {
        float radius = 0.0f;
        for (int j = 0; j < n; ++j) {
            if (j != i) radius += fabsf(m[i * n + j]);
        }
        float centre = m[i * n + i];
        low[t] = fminf(low[t], centre - radius);
        high[t] = fmaxf(high[t], centre + radius);
        if (fabsf(centre) > radius) rows[t]++;
    }
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) {
            low[t] = fminf(low[t], low[t + s]);
            high[t] = fmaxf(high[t], high[t + s]);
            rows[t] += rows[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        bounds[2 * blockIdx.x] = low[0];
        bounds[2 * blockIdx.x + 1] = high[0];
        dominant[blockIdx.x] = rows[0];
    }
}

int main() {
    float* h_a = new float[BATCH * N * N];
    read_binary("data/a.bin", h_a, BATCH * N * N);
    float* h_bounds = new float[BATCH * 2];
    int* h_dominant = new int[BATCH];

    float *d_a, *d_bounds;
    int *d_dominant;
    cudaMalloc(&d_a, BATCH * N * N * sizeof(float));
    cudaMalloc(&d_bounds, BATCH * 2 * sizeof(float));
    cudaMalloc(&d_dominant, BATCH * sizeof(int));
    cudaMemcpy(d_a, h_a, BATCH * N * N * sizeof(float), cudaMemcpyHostToDevice);

    gershgorin<<<BATCH, BLOCK>>>(d_a, d_bounds, d_dominant, N);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_bounds, d_bounds, BATCH * 2 * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/bounds.bin", h_bounds, BATCH * 2);
    cudaMemcpy(h_dominant, d_dominant, BATCH * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/dominant.bin", reinterpret_cast<const float*>(h_dominant), BATCH);

    cudaFree(d_a);
    cudaFree(d_bounds);
    cudaFree(d_dominant);
    delete[] h_a;
    delete[] h_bounds;
    delete[] h_dominant;
    return 0;
}
