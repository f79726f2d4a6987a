const int DIM = 150;

__global__ void penalty(const float* correlation, float* terms, float* gradient, int dim) {
    __shared__ float diagonal[256];
    __shared__ float others[256];
    int t = threadIdx.x;
    int r = blockIdx.x;
    float on = 0.0f;
    float off = 0.0f;
    for (int c = t; c < dim; c += 256) {
        float v = correlation[r * dim + c];
        if (c == r) {
            on += (1.0f - v) * (1.0f - v);
            gradient[r * dim + c] = -2.0f * (1.0f - v);
        } else {
            off += v * v;
            gradient[r * dim + c] = 0.01f * v;
        }
    }
    diagonal[t] = on;
    others[t] = off;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) {
            diagonal[t] += diagonal[t + s];
            others[t] += others[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        atomicAdd(&terms[0], diagonal[0]);
        atomicAdd(&terms[1], others[0]);
    }
}

int main() {
    const int n = DIM * DIM;
    const size_t buffer_bytes = n * sizeof(float);

    float* h_correlation = new float[n];
    read_binary("data/correlation.bin", h_correlation, n);
    float* d_correlation;
    cudaMalloc(&d_correlation, buffer_bytes);
    cudaMemcpy(d_correlation, h_correlation, buffer_bytes, cudaMemcpyHostToDevice);

    float* h_terms = new float[2];
    float* d_terms;
    cudaMalloc(&d_terms, 2 * sizeof(float));
    float* h_gradient = new float[n];
    float* d_gradient;
    cudaMalloc(&d_gradient, buffer_bytes);

    cudaMemset(d_terms, 0, 2 * sizeof(float));
    penalty<<<DIM, 256>>>(d_correlation, d_terms, d_gradient, DIM);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_terms, d_terms, 2 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_gradient, d_gradient, buffer_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/terms.bin", h_terms, 2);
    write_binary("data/gradient.bin", h_gradient, n);

    cudaFree(d_correlation);
    delete[] h_correlation;
    cudaFree(d_terms);
    delete[] h_terms;
    cudaFree(d_gradient);
    delete[] h_gradient;
    return 0;
}
