#define HEIGHT 60
#define WIDTH 110
#define TRIM 2

__global__ void trimmed_mean(const float* noisy, float* cleaned, int height, int width, int trim) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float v[9];
    for (int k = 0; k < 9; ++k) {
        int yy = min(max(y + k / 3 - 1, 0), height - 1);
        int xx = min(max(x + k % 3 - 1, 0), width - 1);
        float value = noisy[yy * width + xx];
        int j = k;
        while (j > 0 && v[j - 1] > value) {
            v[j] = v[j - 1];
            --j;
        }
        v[j] = value;
    }
    float sum = 0.0f;
    for (int k = trim; k < 9 - trim; ++k) sum += v[k];
    cleaned[y * width + x] = sum / (9 - 2 * trim);
}

int main() {
    const size_t total = HEIGHT * WIDTH;
    std::vector<float> h_noisy(total);
    std::vector<float> h_cleaned(total);

    read_binary("data/noisy.bin", h_noisy.data(), total);

    float *d_noisy, *d_cleaned;
    cudaMalloc(&d_noisy, total * sizeof(float));
    cudaMalloc(&d_cleaned, total * sizeof(float));

    cudaMemcpy(d_noisy, h_noisy.data(), total * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(32, 4);
    dim3 grid((WIDTH + block.x - 1) / block.x, (HEIGHT + block.y - 1) / block.y);
    trimmed_mean<<<grid, block>>>(d_noisy, d_cleaned, HEIGHT, WIDTH, TRIM);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_cleaned.data(), d_cleaned, total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/cleaned.bin", h_cleaned.data(), total);
    cudaFree(d_noisy);
    cudaFree(d_cleaned);

    return 0;
}
