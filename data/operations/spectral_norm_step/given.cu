constexpr int kRows = 120;
constexpr int kCols = 200;

__global__ void transposed_product(const float* w, const float* u, float* v, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float sum = 0.0f;
    for (int r = 0; r < rows; ++r) sum += w[(size_t)r * cols + c] * u[r];
    v[c] = sum;
}

__global__ void product(const float* w, const float* v, float* z, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) sum += w[(size_t)r * cols + c] * v[c];
    z[r] = sum;
}

__global__ void vector_length(const float* a, int n, float* length) {
    __shared__ float part[256];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) sum += a[i] * a[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) *length = sqrtf(part[0]);
}

__global__ void divide(const float* a, const float* by, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] / *by;
}

int main() {
    const int N = kRows * kCols;

    float* h_w = new float[N];
    read_binary("data/w.bin", h_w, N);
    float* h_u = new float[kRows];
    read_binary("data/u.bin", h_u, kRows);
    float* h_w_normalized = new float[N];
    float* h_u_next = new float[kRows];

    float* d_w = nullptr;
    cudaMalloc((void**)&d_w, N * sizeof(float));
    float* d_u = nullptr;
    cudaMalloc((void**)&d_u, kRows * sizeof(float));
    float* d_w_normalized = nullptr;
    cudaMalloc((void**)&d_w_normalized, N * sizeof(float));
    float* d_u_next = nullptr;
    cudaMalloc((void**)&d_u_next, kRows * sizeof(float));
    cudaMemcpy(d_w, h_w, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_u, h_u, kRows * sizeof(float), cudaMemcpyHostToDevice);
    float* d_v;
    cudaMalloc(&d_v, kCols * sizeof(float));
    float* d_z;
    cudaMalloc(&d_z, kRows * sizeof(float));
    float* d_length;
    cudaMalloc(&d_length, sizeof(float));

    const int threads = 512;
    transposed_product<<<(kCols + threads - 1) / threads, threads>>>(d_w, d_u, d_v, kRows, kCols);
    vector_length<<<1, 256>>>(d_v, kCols, d_length);
    divide<<<(kCols + threads - 1) / threads, threads>>>(d_v, d_length, d_v, kCols);
    product<<<(kRows + threads - 1) / threads, threads>>>(d_w, d_v, d_z, kRows, kCols);
    vector_length<<<1, 256>>>(d_z, kRows, d_length);
    divide<<<(kRows + threads - 1) / threads, threads>>>(d_z, d_length, d_u_next, kRows);
    divide<<<(N + threads - 1) / threads, threads>>>(d_w, d_length, d_w_normalized, N);
    cudaDeviceSynchronize();

    cudaMemcpy(h_w_normalized, d_w_normalized, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/w_normalized.bin", h_w_normalized, N);
    cudaMemcpy(h_u_next, d_u_next, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/u_next.bin", h_u_next, kRows);
    cudaFree(d_w);
    cudaFree(d_u);
    cudaFree(d_w_normalized);
    cudaFree(d_u_next);
    cudaFree(d_v);
    cudaFree(d_z);
    cudaFree(d_length);
    delete[] h_w;
    delete[] h_u;
    delete[] h_w_normalized;
    delete[] h_u_next;
    return 0;
}
