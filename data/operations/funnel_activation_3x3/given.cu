const int BATCH = 1;
const int CHANNELS = 4;
const int HEIGHT = 40;
const int WIDTH = 50;

__global__ void funnel_activation(const float* x, const float* weight, const float* bias, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int w = i % WIDTH;
    int h = i / WIDTH % HEIGHT;
    int c = i / (WIDTH * HEIGHT) % CHANNELS;
    float t = bias[c];
    for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
            if (h + dy < 0 || h + dy >= HEIGHT || w + dx < 0 || w + dx >= WIDTH) continue;
            t += weight[c * 9 + (dy + 1) * 3 + dx + 1] * x[i + dy * WIDTH + dx];
        }
    }
    y[i] = fmaxf(x[i], t);
}

int main() {
    const int count = BATCH * CHANNELS * HEIGHT * WIDTH;
    const size_t weight_total = CHANNELS * 3 * 3;

    float* h_x = new float[count];
    float* h_weight = new float[weight_total];
    float* h_bias = new float[CHANNELS];
    read_binary("data/x.bin", h_x, count);
    read_binary("data/weight.bin", h_weight, weight_total);
    read_binary("data/bias.bin", h_bias, CHANNELS);

    float* d_x;
    float* d_weight;
    float* d_bias;
    float* d_y;
    cudaMalloc(&d_x, count * sizeof(float));
    cudaMalloc(&d_weight, weight_total * sizeof(float));
    cudaMalloc(&d_bias, CHANNELS * sizeof(float));
    cudaMalloc(&d_y, count * sizeof(float));
    cudaMemcpy(d_x, h_x, count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight, weight_total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_bias, h_bias, CHANNELS * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 256;
    const int blocks = (count + threads - 1) / threads;
    funnel_activation<<<blocks, threads>>>(d_x, d_weight, d_bias, d_y, count);
    cudaDeviceSynchronize();

    float* h_y = new float[count];
    cudaMemcpy(h_y, d_y, count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, count);

    cudaFree(d_x);
    delete[] h_x;
    cudaFree(d_weight);
    delete[] h_weight;
    cudaFree(d_bias);
    delete[] h_bias;
    cudaFree(d_y);
    delete[] h_y;
    return 0;
}
