const int BATCH = 20;
const int M = 30;
const int N = 40;
const int THREADS = 128;

// One block per form.
__global__ void bilinear(const float* x, const float* a, const float* y, float* form) {
    __shared__ float partial[THREADS];
    int b = blockIdx.x;
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int e = t; e < M * N; e += THREADS) {
        int i = e / N;
        int j = e % N;
        sum += x[b * M + i] * a[b * M * N + e] * y[b * N + j];
    }
    partial[t] = sum;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (t < s) partial[t] += partial[t + s];
        __syncthreads();
    }
    if (t == 0) form[b] = partial[0];
}

int main() {
    const int y_size = BATCH * N;
    float* h_x = new float[BATCH * M];
    float* h_a = new float[BATCH * M * N];
    float* h_y = new float[y_size];
    float* h_form = new float[BATCH];
    read_binary("data/x.bin", h_x, BATCH * M);
    read_binary("data/a.bin", h_a, BATCH * M * N);
    read_binary("data/y.bin", h_y, y_size);

    float* d_x = nullptr;
    float* d_a = nullptr;
    float* d_y = nullptr;
    float* d_form = nullptr;
    cudaMalloc(&d_x, BATCH * M * sizeof(float));
    cudaMalloc(&d_a, BATCH * M * N * sizeof(float));
    cudaMalloc(&d_y, y_size * sizeof(float));
    cudaMalloc(&d_form, BATCH * sizeof(float));

    cudaMemcpy(d_x, h_x, BATCH * M * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_a, h_a, BATCH * M * N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_y, h_y, y_size * sizeof(float), cudaMemcpyHostToDevice);

    bilinear<<<BATCH, THREADS>>>(d_x, d_a, d_y, d_form);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "CUDA error\n";
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_form, d_form, BATCH * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/form.bin", h_form, BATCH);

    cudaFree(d_x);
    cudaFree(d_a);
    cudaFree(d_y);
    cudaFree(d_form);
    delete[] h_x;
    delete[] h_a;
    delete[] h_y;
    delete[] h_form;
    return 0;
}
