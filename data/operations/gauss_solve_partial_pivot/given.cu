constexpr int kBatch = 25;
constexpr int kN = 24;

__global__ void gauss_solve(const float* a, const float* b, float* x) {
    __shared__ float m[kN][kN + 1];
    __shared__ int pivot;
    int t = threadIdx.x;
    for (int i = 0; i < kN; ++i) m[i][t] = a[(blockIdx.x * kN + i) * kN + t];
    m[t][kN] = b[blockIdx.x * kN + t];
    __syncthreads();
    for (int k = 0; k < kN; ++k) {
        if (t == 0) {
            pivot = k;
            for (int i = k + 1; i < kN; ++i) {
                if (fabsf(m[i][k]) > fabsf(m[pivot][k])) pivot = i;
            }
        }
        __syncthreads();
        if (pivot != k) {
            for (int j = t; j <= kN; j += kN) {
                float tmp = m[k][j];
                m[k][j] = m[pivot][j];
                m[pivot][j] = tmp;
            }
        }
        __syncthreads();
        if (t > k) {
            float f = m[t][k] / m[k][k];
            for (int j = k; j <= kN; ++j) m[t][j] -= f * m[k][j];
        }
        __syncthreads();
    }
    for (int k = kN - 1; k >= 0; --k) {
        if (t == k) m[k][kN] /= m[k][k];
        __syncthreads();
        if (t < k) m[t][kN] -= m[t][k] * m[k][kN];
        __syncthreads();
    }
    x[blockIdx.x * kN + t] = m[t][kN];
}

int main() {
    const int a_total = kBatch * kN * kN;
    const size_t length = kBatch * kN;
    const size_t size_bytes = length * sizeof(float);

    std::vector<float> h_a(a_total);
    std::vector<float> h_b(length);
    read_binary("data/a.bin", h_a.data(), a_total);
    read_binary("data/b.bin", h_b.data(), length);
    float *d_a, *d_b, *d_x;
    cudaMalloc(&d_a, a_total * sizeof(float));
    cudaMalloc(&d_b, size_bytes);
    cudaMalloc(&d_x, size_bytes);
    cudaMemcpy(d_a, h_a.data(), a_total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b.data(), size_bytes, cudaMemcpyHostToDevice);

    gauss_solve<<<kBatch, kN>>>(d_a, d_b, d_x);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "kernel failed" << std::endl;
        return 1;
    }
    cudaDeviceSynchronize();

    std::vector<float> h_x(length);
    cudaMemcpy(h_x.data(), d_x, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/x.bin", h_x.data(), length);

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_x);
    return 0;
}
