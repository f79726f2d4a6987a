constexpr int kFrames = 120;
constexpr int kBins = 129;
constexpr int kBands = 10;

__global__ void band_levels(const float* power, const int* edge, float* level, int frames, int bands,
                            int bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= frames * bands) return;
    int f = i / bands;
    int j = i % bands;
    int begin = edge[j], end = edge[j + 1];
    if (begin == end) {
        level[i] = -120.0f;
        return;
    }
    float sum = 0.0f;
    for (int b = begin; b < end; b++) sum += power[f * bins + b];
    level[i] = 10.0f * log10f(sum / (end - begin) + 1e-12f);
}

int main() {
    const size_t power_size = kFrames * kBins;
    const int edge_count = kBands + 1;
    const int level_total = kFrames * kBands;
    float* h_power = new float[power_size];
    int* h_edge = new int[edge_count];
    float* h_level = new float[level_total];
    read_binary("data/power.bin", h_power, power_size);
    read_binary("data/edge.bin", reinterpret_cast<float*>(h_edge), edge_count);

    float* d_power = nullptr;
    cudaMalloc(&d_power, power_size * sizeof(float));
    cudaMemcpy(d_power, h_power, power_size * sizeof(float), cudaMemcpyHostToDevice);
    int* d_edge = nullptr;
    cudaMalloc(&d_edge, edge_count * sizeof(int));
    cudaMemcpy(d_edge, h_edge, edge_count * sizeof(int), cudaMemcpyHostToDevice);
    float* d_level = nullptr;
    cudaMalloc(&d_level, level_total * sizeof(float));

    const int threads = 256;
    band_levels<<<(level_total + threads - 1) / threads, threads>>>(d_power, d_edge, d_level, kFrames, kBands,
            kBins);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_level, d_level, level_total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/level.bin", h_level, level_total);

    cudaFree(d_power);
    cudaFree(d_edge);
    cudaFree(d_level);
    delete[] h_power;
    delete[] h_edge;
    delete[] h_level;
    return 0;
}
