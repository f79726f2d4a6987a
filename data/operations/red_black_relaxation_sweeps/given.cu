const int HEIGHT = 60;
const int WIDTH = 97;
const int SWEEPS = 4;

__global__ void relax_color(float* u, const float* source, int color, int height, int width) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < 1 || col < 1 || row >= height - 1 || col >= width - 1) return;
    if ((row + col) % 2 != color) return;
    int i = row * width + col;
    float sum = u[i - width] + u[i + width] + u[i - 1] + u[i + 1];
    u[i] += 1.6f * ((sum - source[i]) / 4.0f - u[i]);
}

int main() {
    const size_t numel = (size_t)HEIGHT * WIDTH;

    std::vector<float> h_guess(numel);
    read_binary("data/guess.bin", h_guess.data(), numel);
    float* d_guess = nullptr;
    cudaMalloc(&d_guess, numel * sizeof(float));
    cudaMemcpy(d_guess, h_guess.data(), numel * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<float> h_source(numel);
    read_binary("data/source.bin", h_source.data(), numel);
    float* d_source = nullptr;
    cudaMalloc(&d_source, numel * sizeof(float));
    cudaMemcpy(d_source, h_source.data(), numel * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<float> h_solution(numel);
    float* d_solution = nullptr;
    cudaMalloc(&d_solution, numel * sizeof(float));

    cudaMemcpy(d_solution, d_guess, numel * sizeof(float), cudaMemcpyDeviceToDevice);
    dim3 block(16, 16);
    dim3 grid((WIDTH + 15) / 16, (HEIGHT + 15) / 16);
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        relax_color<<<grid, block>>>(d_solution, d_source, 0, HEIGHT, WIDTH);
        relax_color<<<grid, block>>>(d_solution, d_source, 1, HEIGHT, WIDTH);
    }
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << '\n';
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_solution.data(), d_solution, numel * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/solution.bin", h_solution.data(), numel);

    cudaFree(d_guess);
    cudaFree(d_source);
    cudaFree(d_solution);
    return 0;
}
