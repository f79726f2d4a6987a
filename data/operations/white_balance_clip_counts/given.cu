constexpr int BATCH = 3;
constexpr int HEIGHT = 40;
constexpr int WIDTH = 60;
constexpr int PLANE = HEIGHT * WIDTH;

__global__ void white_balance(const float* images, const float* gains, float* balanced, int* clipped,
                              int batch, int plane) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * plane) return;
    int b = i / plane, p = i % plane;
    bool over = false;
    for (int c = 0; c < 3; ++c) {
        size_t at = ((size_t)b * 3 + c) * plane + p;
        float v = images[at] * gains[b * 3 + c];
        if (v > 1.0f) {
            over = true;
            v = 1.0f;
        }
        balanced[at] = v;
    }
    if (over) atomicAdd(&clipped[b], 1);
}

int main() {
    const int total = BATCH * 3 * HEIGHT * WIDTH;
    const size_t gains_count = BATCH * 3;

    std::vector<float> h_images(total);
    read_binary("data/images.bin", h_images.data(), total);
    std::vector<float> h_gains(gains_count);
    read_binary("data/gains.bin", h_gains.data(), gains_count);

    float* d_images = nullptr;
    float* d_gains = nullptr;
    float* d_balanced = nullptr;
    int* d_clipped = nullptr;
    cudaMalloc(&d_images, total * sizeof(float));
    cudaMemcpy(d_images, h_images.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_gains, gains_count * sizeof(float));
    cudaMemcpy(d_gains, h_gains.data(), gains_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_balanced, total * sizeof(float));
    cudaMalloc(&d_clipped, sizeof(int) * BATCH);

    cudaMemset(d_clipped, 0, BATCH * sizeof(int));
    const int block = 256;
    const int grid = (BATCH * PLANE + block - 1) / block;
    white_balance<<<grid, block>>>(d_images, d_gains, d_balanced, d_clipped, BATCH, PLANE);
    cudaDeviceSynchronize();

    std::vector<float> h_balanced(total);
    std::vector<int> h_clipped(BATCH);
    cudaMemcpy(h_balanced.data(), d_balanced, total * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_clipped.data(), d_clipped, sizeof(int) * BATCH, cudaMemcpyDeviceToHost);
    write_binary("data/balanced.bin", h_balanced.data(), total);
    write_binary("data/clipped.bin", reinterpret_cast<const float*>(h_clipped.data()), BATCH);

    cudaFree(d_images);
    cudaFree(d_gains);
    cudaFree(d_balanced);
    cudaFree(d_clipped);
    return 0;
}
