#define BATCH 2
#define CHANNELS 3
#define HEIGHT 60
#define WIDTH 50
#define OUT_H ((HEIGHT + 1) / 2)
#define OUT_W ((WIDTH + 1) / 2)

__global__ void mixed_pool(const float* x, const float* gate, float* y, int batch, int channels,
                           int height, int width) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int out_h = (height + 1) / 2;
    int out_w = (width + 1) / 2;
    if (k >= batch * channels * out_h * out_w) return;
    int j = k % out_w;
    int i = k / out_w % out_h;
    int plane = k / (out_w * out_h);
    const float* p = x + (size_t)plane * height * width;
    float top = -FLT_MAX, sum = 0.0f;
    int count = 0;
    for (int r = max(2 * i - 1, 0); r <= min(2 * i + 1, height - 1); ++r) {
        for (int c = max(2 * j - 1, 0); c <= min(2 * j + 1, width - 1); ++c) {
            float v = p[r * width + c];
            top = fmaxf(top, v);
            sum += v;
            ++count;
        }
    }
    float g = gate[plane % channels];
    y[k] = g * top + (1.0f - g) * (sum / count);
}

int main() {
    const size_t x_total = BATCH * CHANNELS * HEIGHT * WIDTH;
    const int y_count = BATCH * CHANNELS * OUT_H * OUT_W;

    std::vector<float> h_x(x_total);
    std::vector<float> h_gate(CHANNELS);
    read_binary("data/x.bin", h_x.data(), x_total);
    read_binary("data/gate.bin", h_gate.data(), CHANNELS);
    float *d_x, *d_gate, *d_y;
    cudaMalloc(&d_x, x_total * sizeof(float));
    cudaMalloc(&d_gate, CHANNELS * sizeof(float));
    cudaMalloc(&d_y, y_count * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), x_total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gate, h_gate.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);

    const int block = 256;
    const int grid = (y_count + block - 1) / block;
    mixed_pool<<<grid, block>>>(d_x, d_gate, d_y, BATCH, CHANNELS, HEIGHT, WIDTH);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "mixed kernel: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    std::vector<float> h_y(y_count);
    cudaMemcpy(h_y.data(), d_y, y_count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y.data(), y_count);

    cudaFree(d_x);
    cudaFree(d_gate);
    cudaFree(d_y);
    return 0;
}
