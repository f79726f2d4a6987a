constexpr int kBatch = 6;
constexpr int kSteps = 40;
constexpr int kFeatures = 96;

__global__ void masked_mean(const float* x, const int* lengths, const unsigned char* skip, float* mean,
                            int steps, int features) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (f >= features) return;
    float sum = 0.0f;
    int used = 0;
    for (int t = 0; t < lengths[b]; ++t) {
        if (skip[b * steps + t] != 0) continue;
        sum += x[((size_t)b * steps + t) * features + f];
        ++used;
    }
    mean[b * features + f] = used > 0 ? sum / used : 0.0f;
}

int main() {
    size_t x_len = kBatch * kSteps * kFeatures;
    size_t skip_len = (size_t)kBatch * kSteps;
    size_t mean_len = kBatch * kFeatures;
    float* h_x = new float[x_len];
    read_binary("data/x.bin", h_x, x_len);
    float* d_x;
    cudaMalloc(&d_x, sizeof(float) * x_len);
    cudaMemcpy(d_x, h_x, sizeof(float) * x_len, cudaMemcpyHostToDevice);

    int* h_lengths = new int[kBatch];
    read_binary("data/lengths.bin", reinterpret_cast<float*>(h_lengths), kBatch);
    int* d_lengths;
    cudaMalloc(&d_lengths, sizeof(int) * kBatch);
    cudaMemcpy(d_lengths, h_lengths, sizeof(int) * kBatch, cudaMemcpyHostToDevice);

    unsigned char* h_skip = new unsigned char[(skip_len + 3) / 4 * 4];
    read_binary("data/skip.bin", reinterpret_cast<float*>(h_skip), (skip_len + 3) / 4);
    unsigned char* d_skip;
    cudaMalloc(&d_skip, sizeof(unsigned char) * skip_len);
    cudaMemcpy(d_skip, h_skip, sizeof(unsigned char) * skip_len, cudaMemcpyHostToDevice);

    float* h_mean = new float[mean_len];
    float* d_mean;
    cudaMalloc(&d_mean, sizeof(float) * mean_len);

    const int threads = 64;
    dim3 grid((kFeatures + threads - 1) / threads, kBatch);
    masked_mean<<<grid, threads>>>(d_x, d_lengths, d_skip, d_mean, kSteps, kFeatures);

    cudaMemcpy(h_mean, d_mean, sizeof(float) * mean_len, cudaMemcpyDeviceToHost);
    write_binary("data/mean.bin", h_mean, mean_len);
    cudaFree(d_x);
    cudaFree(d_lengths);
    cudaFree(d_skip);
    cudaFree(d_mean);
    delete[] h_x;
    delete[] h_lengths;
    delete[] h_skip;
    delete[] h_mean;
    return 0;
}
