static const int kBatch = 6;
static const int kTime = 70;
static const int kDim = 100;

__global__ void pool_stats(const float* frames, const int* lengths, float* stats, int time, int dim) {
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (d >= dim) return;
    int n = lengths[b];
    const float* x = frames + (size_t)b * time * dim + d;
    float mean = 0.0f;
    for (int t = 0; t < n; ++t) mean += x[(size_t)t * dim];
    mean /= n;
    float var = 0.0f;
    for (int t = 0; t < n; ++t) {
        float diff = x[(size_t)t * dim] - mean;
        var += diff * diff;
    }
    stats[b * 2 * dim + d] = mean;
    stats[b * 2 * dim + dim + d] = sqrtf(fmaxf(var / n, 1e-6f));
}

int main() {
    const size_t frames_size = kBatch * kTime * kDim;
    const size_t stats_size = (size_t)kBatch * 2 * kDim;
    std::vector<float> h_frames(frames_size);
    read_binary("data/frames.bin", h_frames.data(), frames_size);
    std::vector<int> h_lengths(kBatch);
    read_binary("data/lengths.bin", reinterpret_cast<float*>(h_lengths.data()), kBatch);

    float* d_frames = nullptr;
    cudaMalloc(&d_frames, frames_size * sizeof(float));
    int* d_lengths = nullptr;
    cudaMalloc(&d_lengths, kBatch * sizeof(int));
    float* d_stats = nullptr;
    cudaMalloc(&d_stats, stats_size * sizeof(float));
    cudaMemcpy(d_frames, h_frames.data(), frames_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_lengths, h_lengths.data(), kBatch * sizeof(int), cudaMemcpyHostToDevice);

    const int threads = 64;
    dim3 grid((kDim + threads - 1) / threads, kBatch);
    pool_stats<<<grid, threads>>>(d_frames, d_lengths, d_stats, kTime, kDim);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    std::vector<float> h_stats(stats_size);
    cudaMemcpy(h_stats.data(), d_stats, stats_size * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/stats.bin", h_stats.data(), stats_size);

    cudaFree(d_frames);
    cudaFree(d_lengths);
    cudaFree(d_stats);
    return 0;
}
