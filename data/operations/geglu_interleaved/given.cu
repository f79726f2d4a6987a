#define ROWS 30
#define WIDTH 333

__global__ void geglu_kernel(const float* u, float* y, int total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    float g = u[2 * i];
    float v = u[2 * i + 1];
    float phi = 0.5f * (1.0f + erff(g / sqrtf(2.0f)));
    y[i] = v * g * phi;
}

int main() {
    size_t u_count = (size_t)ROWS * WIDTH * 2;
    size_t y_count = (size_t)ROWS * WIDTH;

    float* h_u = new float[u_count];
    read_binary("data/u.bin", h_u, u_count);
    float* d_u;
    cudaMalloc(&d_u, u_count * sizeof(float));
    cudaMemcpy(d_u, h_u, u_count * sizeof(float), cudaMemcpyHostToDevice);

    float* h_y = new float[y_count];
    float* d_y;
    cudaMalloc(&d_y, y_count * sizeof(float));

    const int blockSize = 256;
    const int gridSize = (y_count + blockSize - 1) / blockSize;
    geglu_kernel<<<gridSize, blockSize>>>(d_u, d_y, y_count);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y, d_y, y_count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, y_count);

    cudaFree(d_u);
    cudaFree(d_y);

    delete[] h_u;
    delete[] h_y;
    return 0;
}
