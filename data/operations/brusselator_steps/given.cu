#define HEIGHT 60
#define WIDTH 70
#define STEPS 10

__global__ void react(const float* x, const float* y, float* x_next, float* y_next, int height, int width) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= height || c >= width) return;
    int i = r * width + c;
    int up = (r + height - 1) % height * width + c;
    int down = (r + 1) % height * width + c;
    int left = r * width + (c + width - 1) % width;
    int right = r * width + (c + 1) % width;
    float u = x[i];
    float v = y[i];
    float lap_u = x[up] + x[down] + x[left] + x[right] - 4.0f * u;
    float lap_v = y[up] + y[down] + y[left] + y[right] - 4.0f * v;
    float made = u * u * v;
    x_next[i] = u + 0.01f * (1.0f - 4.0f * u + made + 2.0f * lap_u);
    y_next[i] = v + 0.01f * (3.0f * u - made + 10.0f * lap_v);
}

int main() {
    const size_t elements = HEIGHT * WIDTH;
    float* h_x = new float[elements];
    float* h_y = new float[elements];
    float* h_x_after = new float[elements];
    float* h_y_after = new float[elements];
    read_binary("data/x.bin", h_x, elements);
    read_binary("data/y.bin", h_y, elements);

    float* d_x;
    cudaMalloc(&d_x, elements * sizeof(float));
    cudaMemcpy(d_x, h_x, elements * sizeof(float), cudaMemcpyHostToDevice);
    float* d_y;
    cudaMalloc(&d_y, elements * sizeof(float));
    cudaMemcpy(d_y, h_y, elements * sizeof(float), cudaMemcpyHostToDevice);
    float* d_x_after;
    cudaMalloc(&d_x_after, elements * sizeof(float));
    float* d_y_after;
    cudaMalloc(&d_y_after, elements * sizeof(float));

    dim3 block(32, 8);
    dim3 grid((WIDTH + 31) / 32, (HEIGHT + 7) / 8);
    for (int step = 0; step < STEPS; ++step) {
        react<<<grid, block>>>(d_x, d_y, d_x_after, d_y_after, HEIGHT, WIDTH);
        std::swap(d_x, d_x_after);
        std::swap(d_y, d_y_after);
    }
    // the last state lies in d_x and d_y now
    std::swap(d_x, d_x_after);
    std::swap(d_y, d_y_after);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA error\n";
        return 1;
    }

    cudaMemcpy(h_x_after, d_x_after, elements * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_y_after, d_y_after, elements * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/x_after.bin", h_x_after, elements);
    write_binary("data/y_after.bin", h_y_after, elements);

    cudaFree(d_x);
    delete[] h_x;
    cudaFree(d_y);
    delete[] h_y;
    cudaFree(d_x_after);
    delete[] h_x_after;
    cudaFree(d_y_after);
    delete[] h_y_after;
    return 0;
}
