const int N = 3000;

__global__ void slerp_kernel(const float* a, const float* b, const float* t, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float dot = a[3 * i] * b[3 * i] + a[3 * i + 1] * b[3 * i + 1] + a[3 * i + 2] * b[3 * i + 2];
    float theta = acosf(fminf(fmaxf(dot, -1.0f), 1.0f));
    float sine = sinf(theta);
    float wa = sinf((1.0f - t[i]) * theta) / sine;
    float wb = sinf(t[i] * theta) / sine;
    for (int k = 0; k < 3; ++k) {
        c[3 * i + k] = wa * a[3 * i + k] + wb * b[3 * i + k];
    }
}

int main() {
    int numel = N * 3;
    size_t size_bytes = numel * sizeof(float);

    float* h_a = new float[numel];
    float* h_b = new float[numel];
    float* h_t = new float[N];
    float* h_c = new float[numel];

    read_binary("data/a.bin", h_a, numel);
    read_binary("data/b.bin", h_b, numel);
    read_binary("data/t.bin", h_t, N);

    float* d_a = nullptr;
    float* d_b = nullptr;
    float* d_t = nullptr;
    float* d_c = nullptr;
    cudaMalloc(&d_a, size_bytes);
    cudaMalloc(&d_b, size_bytes);
    cudaMalloc(&d_t, N * sizeof(float));
    cudaMalloc(&d_c, size_bytes);
    cudaMemcpy(d_a, h_a, size_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, size_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_t, h_t, N * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(256);
    dim3 grid((N + block.x - 1) / block.x);
    slerp_kernel<<<grid, block>>>(d_a, d_b, d_t, d_c, N);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_c, d_c, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/c.bin", h_c, numel);

    delete[] h_a;
    delete[] h_b;
    delete[] h_t;
    delete[] h_c;
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_t);
    cudaFree(d_c);
    return 0;
}
