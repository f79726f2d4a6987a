const int BATCH = 2;
const int CHANNELS = 16;
const int PIXELS = 500;

__global__ void normalize_backward(const float* x, const float* dy, float* dx, int batch, int channels, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * pixels) return;
    int start = i / pixels * channels * pixels + i % pixels;
    float squares = 0.0f;
    float dot = 0.0f;
    for (int c = 0; c < channels; ++c) {
        int k = start + c * pixels;
        squares += x[k] * x[k];
        dot += x[k] * dy[k];
    }
    float length = sqrtf(squares + 1e-10f);
    dot /= length;
    for (int c = 0; c < channels; ++c) {
        int k = start + c * pixels;
        dx[k] = (dy[k] - x[k] / length * dot) / length;
    }
}

int main() {
    const int numel = BATCH * CHANNELS * PIXELS;
    std::vector<float> h_x(numel);
    read_binary("data/x.bin", h_x.data(), numel);
    float* d_x;
    cudaMalloc(&d_x, numel * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), numel * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<float> h_dy(numel);
    read_binary("data/dy.bin", h_dy.data(), numel);
    float* d_dy;
    cudaMalloc(&d_dy, numel * sizeof(float));
    cudaMemcpy(d_dy, h_dy.data(), numel * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<float> h_dx(numel);
    float* d_dx;
    cudaMalloc(&d_dx, numel * sizeof(float));

    const int threads = 128;
    const int blocks = (BATCH * PIXELS + threads - 1) / threads;
    normalize_backward<<<blocks, threads>>>(d_x, d_dy, d_dx, BATCH, CHANNELS, PIXELS);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "error\n";
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_dx.data(), d_dx, numel * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/dx.bin", h_dx.data(), numel);

    cudaFree(d_x);
    cudaFree(d_dy);
    cudaFree(d_dx);
    return 0;
}
