constexpr int HEIGHT = 50;
constexpr int WIDTH = 90;
constexpr int STEPS = 6;

__global__ void membrane_step(const float* previous, const float* current, float* displacement,
                              int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int i = y * width + x;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        displacement[i] = current[i];
        return;
    }
    float neighbours = current[i - width] + current[i + width] + current[i - 1] + current[i + 1];
    float force = 0.3f * (neighbours - 4.0f * current[i]);
    displacement[i] = (2.0f * current[i] - 0.98f * previous[i] + force) / 1.02f;
}

int main() {
    int N = HEIGHT * WIDTH;

    float* h_previous = new float[N];
    float* h_current = new float[N];
    float* h_displacement = new float[N];

    read_binary("data/previous.bin", h_previous, N);
    read_binary("data/current.bin", h_current, N);

    float *d_previous, *d_current, *d_displacement;
    cudaMalloc(&d_previous, sizeof(float) * N);
    cudaMalloc(&d_current, sizeof(float) * N);
    cudaMalloc(&d_displacement, sizeof(float) * N);
    cudaMemcpy(d_previous, h_previous, sizeof(float) * N, cudaMemcpyHostToDevice);
    cudaMemcpy(d_current, h_current, sizeof(float) * N, cudaMemcpyHostToDevice);

    dim3 block(16, 16);
    dim3 grid((WIDTH + 15) / 16, (HEIGHT + 15) / 16);
    for (int s = 0; s < STEPS; ++s) {
        membrane_step<<<grid, block>>>(d_previous, d_current, d_displacement, HEIGHT, WIDTH);
        float* oldest = d_previous;
        d_previous = d_current;
        d_current = d_displacement;
        d_displacement = oldest;
    }
    std::swap(d_current, d_displacement);  // the newest field
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_displacement, d_displacement, sizeof(float) * N, cudaMemcpyDeviceToHost);
    write_binary("data/displacement.bin", h_displacement, N);

    delete[] h_previous;
    delete[] h_current;
    delete[] h_displacement;
    cudaFree(d_previous);
    cudaFree(d_current);
    cudaFree(d_displacement);
    return 0;
}
