constexpr int N = 4000;
constexpr int DEGREE = 9;

__global__ void legendre_table(const float* x, const float* weight, float* p, int n, int degree) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float t = x[i];
    float previous = 0.0f;
    float current = 1.0f;
    for (int l = 0; l <= degree; ++l) {
        p[(size_t)l * n + i] = weight[l] * current;
        float next = ((2 * l + 1) * t * current - l * previous) / (l + 1);
        previous = current;
        current = next;
    }
}

int main() {
    const size_t weight_size = DEGREE + 1;

    float* h_x = new float[N];
    read_binary("data/x.bin", h_x, N);
    float* h_weight = new float[weight_size];
    read_binary("data/weight.bin", h_weight, weight_size);

    float* d_x = nullptr;
    float* d_weight = nullptr;
    float* d_p = nullptr;
    cudaMalloc(&d_x, N * sizeof(float));
    cudaMemcpy(d_x, h_x, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_weight, weight_size * sizeof(float));
    cudaMemcpy(d_weight, h_weight, weight_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_p, (DEGREE + 1) * N * sizeof(float));

    dim3 block(256);
    dim3 grid((N + 255) / 256);
    legendre_table<<<grid, block>>>(d_x, d_weight, d_p, N, DEGREE);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    float* h_p = new float[(DEGREE + 1) * N];
    cudaMemcpy(h_p, d_p, (DEGREE + 1) * N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/p.bin", h_p, (DEGREE + 1) * N);

    cudaFree(d_x);
    delete[] h_x;
    cudaFree(d_weight);
    delete[] h_weight;
    cudaFree(d_p);
    delete[] h_p;
    return 0;
}
