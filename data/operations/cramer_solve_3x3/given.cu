#define COUNT 3001

__device__ float det3(const float* p, const float* q, const float* r) {
    return p[0] * (q[1] * r[2] - q[2] * r[1]) - p[1] * (q[0] * r[2] - q[2] * r[0])
         + p[2] * (q[0] * r[1] - q[1] * r[0]);
}

__global__ void cramer(const float* a, const float* b, float* x, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float col[3][3], rhs[3];
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) col[c][r] = a[(3 * r + c) * count + i];
        rhs[r] = b[r * count + i];
    }
    float det = det3(col[0], col[1], col[2]);
    x[i] = det3(rhs, col[1], col[2]) / det;
    x[count + i] = det3(col[0], rhs, col[2]) / det;
    x[2 * count + i] = det3(col[0], col[1], rhs) / det;
}

int main() {
    const int a_total = 9 * COUNT;
    const size_t numel = 3 * COUNT;

    float* h_a = new float[a_total];
    read_binary("data/a.bin", h_a, a_total);
    float* h_b = new float[numel];
    read_binary("data/b.bin", h_b, numel);

    float* d_a;
    float* d_b;
    float* d_x;
    cudaMalloc(&d_a, a_total * sizeof(float));
    cudaMemcpy(d_a, h_a, a_total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_b, numel * sizeof(float));
    cudaMemcpy(d_b, h_b, numel * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_x, numel * sizeof(float));

    const int block = 128;
    cramer<<<(COUNT + block - 1) / block, block>>>(d_a, d_b, d_x, COUNT);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    float* h_x = new float[numel];
    cudaMemcpy(h_x, d_x, numel * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/x.bin", h_x, numel);

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_x);
    delete[] h_a;
    delete[] h_b;
    delete[] h_x;
    return 0;
}
