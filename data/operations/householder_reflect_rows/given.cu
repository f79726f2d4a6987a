const int ROWS = 50;
const int COLS = 300;
const int THREADS = 256;

__global__ void reflect_rows(const float* a, const float* v, float* reflected, int cols) {
    __shared__ float av[THREADS];
    __shared__ float vv[THREADS];
    int t = threadIdx.x;
    const float* row = a + (size_t)blockIdx.x * cols;
    float s1 = 0.0f, s2 = 0.0f;
    for (int c = t; c < cols; c += THREADS) {
        s1 += row[c] * v[c];
        s2 += v[c] * v[c];
    }
    av[t] = s1;
    vv[t] = s2;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (t < s) {
            av[t] += av[t + s];
            vv[t] += vv[t + s];
        }
        __syncthreads();
    }
    float factor = 2.0f * av[0] / vv[0];
    for (int c = t; c < cols; c += THREADS) {
        reflected[(size_t)blockIdx.x * cols + c] = row[c] - factor * v[c];
    }
}

int main() {
    const int size = ROWS * COLS;
    const size_t bytes = size * sizeof(float);
    float* h_a = new float[size];
    read_binary("data/a.bin", h_a, size);
    float* h_v = new float[COLS];
    read_binary("data/v.bin", h_v, COLS);

    float *d_a, *d_v, *d_reflected;
    cudaMalloc(&d_a, bytes);
    cudaMemcpy(d_a, h_a, bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_v, COLS * sizeof(float));
    cudaMemcpy(d_v, h_v, COLS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_reflected, bytes);

    reflect_rows<<<ROWS, THREADS>>>(d_a, d_v, d_reflected, COLS);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "householder kernel" << std::endl;
        return 1;
    }
    cudaDeviceSynchronize();

    float* h_reflected = new float[size];
    cudaMemcpy(h_reflected, d_reflected, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/reflected.bin", h_reflected, size);

    cudaFree(d_a);
    cudaFree(d_v);
    cudaFree(d_reflected);
    delete[] h_a;
    delete[] h_v;
    delete[] h_reflected;
    return 0;
}
