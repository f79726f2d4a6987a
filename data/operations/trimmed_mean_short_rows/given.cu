const int ROWS = 300;
const int WIDTH = 37;

__global__ void trimmed_mean(const float* x, float* trimmed, int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + r * width;
    int t = width / 8;
    float sum = 0.0f;
    for (int i = 0; i < width; ++i) {
        int rank = 0;
        for (int j = 0; j < width; ++j) {
            if (row[j] < row[i] || (row[j] == row[i] && j < i)) ++rank;
        }
        if (rank >= t && rank < width - t) sum += row[i];
    }
    trimmed[r] = sum / (float)(width - 2 * t);
}

int main() {
    const int total = ROWS * WIDTH;

    std::vector<float> h_x(total);
    std::vector<float> h_trimmed(ROWS);
    read_binary("data/x.bin", h_x.data(), total);

    float* d_x = nullptr;
    float* d_trimmed = nullptr;
    cudaMalloc(&d_x, sizeof(float) * total);
    cudaMalloc(&d_trimmed, sizeof(float) * ROWS);

    cudaMemcpy(d_x, h_x.data(), sizeof(float) * total, cudaMemcpyHostToDevice);

    trimmed_mean<<<(ROWS + 127) / 128, 128>>>(d_x, d_trimmed, ROWS, WIDTH);

    cudaMemcpy(h_trimmed.data(), d_trimmed, sizeof(float) * ROWS, cudaMemcpyDeviceToHost);
    write_binary("data/trimmed.bin", h_trimmed.data(), ROWS);

    cudaFree(d_x);
    cudaFree(d_trimmed);
    return 0;
}
