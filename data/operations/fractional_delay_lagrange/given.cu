const int CHANNELS = 10;
const int SAMPLES = 2000;

__global__ void fractional_delay(const float* x, const float* delay, float* y, int samples) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int c = blockIdx.y;
    if (t >= samples) return;
    int whole = (int)floorf(delay[c]);
    float q = delay[c] - whole;
    float h[4];
    h[0] = -q * (q - 1.0f) * (q - 2.0f) / 6.0f;
    h[1] = (q + 1.0f) * (q - 1.0f) * (q - 2.0f) / 2.0f;
    h[2] = -(q + 1.0f) * q * (q - 2.0f) / 2.0f;
    h[3] = (q + 1.0f) * q * (q - 1.0f) / 6.0f;
    float sum = 0.0f;
    for (int k = 0; k < 4; k++) {
        int s = t - whole + 1 - k;
        if (s >= 0) sum += h[k] * x[(size_t)c * samples + s];
    }
    y[(size_t)c * samples + t] = sum;
}

int main() {
    const int cells = CHANNELS * SAMPLES;
    float* h_x = new float[cells];
    read_binary("data/x.bin", h_x, cells);
    float* h_delay = new float[CHANNELS];
    read_binary("data/delay.bin", h_delay, CHANNELS);

    float* d_x;
    float* d_delay;
    float* d_y;
    cudaMalloc(&d_x, cells * sizeof(float));
    cudaMemcpy(d_x, h_x, cells * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_delay, sizeof(float) * CHANNELS);
    cudaMemcpy(d_delay, h_delay, sizeof(float) * CHANNELS, cudaMemcpyHostToDevice);
    cudaMalloc(&d_y, cells * sizeof(float));

    const int threads = 256;
    dim3 grid((SAMPLES + threads - 1) / threads, CHANNELS);
    fractional_delay<<<grid, threads>>>(d_x, d_delay, d_y, SAMPLES);
    cudaDeviceSynchronize();

    float* h_y = new float[cells];
    cudaMemcpy(h_y, d_y, cells * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, cells);

    cudaFree(d_x);
    delete[] h_x;
    cudaFree(d_delay);
    delete[] h_delay;
    cudaFree(d_y);
    delete[] h_y;
    return 0;
}
