constexpr int SAMPLES = 1000;
constexpr int CHANNELS = 8;

__global__ void teager(const float* x, float* energy, int samples, int channels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples * channels) return;
    int t = i / channels;
    int c = i % channels;
    if (t == 0) t = 1;
    if (t == samples - 1) t = samples - 2;
    int k = t * channels + c;
    energy[i] = x[k] * x[k] - x[k - channels] * x[k + channels];
}

__global__ void channel_mean(const float* energy, float* average, int samples, int channels) {
    __shared__ float part[256];
    int c = blockIdx.x;
    float sum = 0.0f;
    for (int t = threadIdx.x; t < samples; t += 256) sum += energy[t * channels + c];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) average[c] = part[0] / samples;
}

int main() {
    const int n = SAMPLES * CHANNELS;
    float* h_x = new float[n];
    read_binary("data/x.bin", h_x, n);

    float *d_x, *d_energy, *d_average;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMemcpy(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_energy, n * sizeof(float));
    cudaMalloc(&d_average, CHANNELS * sizeof(float));

    const int threads = 256;
    teager<<<(n + threads - 1) / threads, threads>>>(d_x, d_energy, SAMPLES, CHANNELS);
    channel_mean<<<CHANNELS, threads>>>(d_energy, d_average, SAMPLES, CHANNELS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    float* h_energy = new float[n];
    cudaMemcpy(h_energy, d_energy, n * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/energy.bin", h_energy, n);
    float* h_average = new float[CHANNELS];
    cudaMemcpy(h_average, d_average, CHANNELS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/average.bin", h_average, CHANNELS);

    cudaFree(d_x);
    delete[] h_x;
    cudaFree(d_energy);
    delete[] h_energy;
    cudaFree(d_average);
    delete[] h_average;
    return 0;
}
