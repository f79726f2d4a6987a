#define PLANES 6
#define HEIGHT 70
#define WIDTH 90

__device__ int pixels_inside(int window, int size) {
    return min(2 * window + 1, size - 1) - max(2 * window - 1, 0) + 1;
}

__global__ void average_pool_backward(const float* grad_out, float* grad_in, int height, int width) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int plane = blockIdx.z;
    if (row >= height || col >= width) return;
    int h2 = height / 2;
    int w2 = width / 2;
    float sum = 0.0f;
    for (int i = row / 2; i <= (row + 1) / 2 && i < h2; ++i) {
        for (int j = col / 2; j <= (col + 1) / 2 && j < w2; ++j) {
            int count = pixels_inside(i, height) * pixels_inside(j, width);
            sum += grad_out[(plane * h2 + i) * w2 + j] / count;
        }
    }
    grad_in[(plane * height + row) * width + col] = sum;
}

int main() {
    int num_grad_out = PLANES * (HEIGHT / 2) * (WIDTH / 2);
    int num_grad_in = PLANES * HEIGHT * WIDTH;

    float* h_grad_out = new float[num_grad_out];
    read_binary("data/grad_out.bin", h_grad_out, num_grad_out);
    float* h_grad_in = new float[num_grad_in];

    float *d_grad_out, *d_grad_in;
    cudaMalloc(&d_grad_out, num_grad_out * sizeof(float));
    cudaMemcpy(d_grad_out, h_grad_out, num_grad_out * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_grad_in, num_grad_in * sizeof(float));

    dim3 block(16, 8);
    dim3 grid((WIDTH + block.x - 1) / block.x, (HEIGHT + block.y - 1) / block.y, PLANES);
    average_pool_backward<<<grid, block>>>(d_grad_out, d_grad_in, HEIGHT, WIDTH);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << '\n';
        return 1;
    }

    cudaMemcpy(h_grad_in, d_grad_in, num_grad_in * sizeof(float), cudaMemcpyDeviceToHost);

    write_binary("data/grad_in.bin", h_grad_in, num_grad_in);

    delete[] h_grad_out;
    delete[] h_grad_in;
    cudaFree(d_grad_out);
    cudaFree(d_grad_in);
    return 0;
}
