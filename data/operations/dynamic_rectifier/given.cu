constexpr int kBatch = 3;
constexpr int kChannels = 8;
constexpr int kPlane = 600;

__global__ void dynamic_relu(const float* x, const float* coef, float* y, int n, int plane) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float* k = coef + (i / plane) * 4;
        float first = k[0] * x[i] + k[1];
        float second = k[2] * x[i] + k[3];
        y[i] = fmaxf(first, second);
    }
}

int main() {
    int x_count = kBatch * kChannels * kPlane;
    int coef_count = kBatch * kChannels * 2 * 2;
    float* h_x = new float[x_count];
    float* h_coef = new float[coef_count];
    float* h_y = new float[x_count];
    read_binary("data/x.bin", h_x, x_count);
    read_binary("data/coef.bin", h_coef, coef_count);

    float* d_x;
    float* d_coef;
    float* d_y;
    cudaMalloc(&d_x, sizeof(float) * x_count);
    cudaMemcpy(d_x, h_x, sizeof(float) * x_count, cudaMemcpyHostToDevice);
    cudaMalloc(&d_coef, sizeof(float) * coef_count);
    cudaMemcpy(d_coef, h_coef, sizeof(float) * coef_count, cudaMemcpyHostToDevice);
    cudaMalloc(&d_y, sizeof(float) * x_count);

    dim3 block(512);
    dim3 grid((x_count + block.x - 1) / block.x);
    dynamic_relu<<<grid, block>>>(d_x, d_coef, d_y, x_count, kPlane);
    cudaDeviceSynchronize();

    cudaMemcpy(h_y, d_y, sizeof(float) * x_count, cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, x_count);

    delete[] h_x;
    delete[] h_coef;
    delete[] h_y;
    cudaFree(d_x);
    cudaFree(d_coef);
    cudaFree(d_y);
    return 0;
}
