constexpr int kRows = 200;
constexpr int kBins = 64;

__global__ void histogram_totals(const int* a, const int* b, int* totals, int bins) {
    __shared__ int sum_a, sum_b;
    if (threadIdx.x == 0) sum_a = sum_b = 0;
    __syncthreads();
    int x = 0, y = 0;
    for (int k = threadIdx.x; k < bins; k += blockDim.x) {
        x += a[(size_t)blockIdx.x * bins + k];
        y += b[(size_t)blockIdx.x * bins + k];
    }
    atomicAdd(&sum_a, x);
    atomicAdd(&sum_b, y);
    __syncthreads();
    if (threadIdx.x == 0) {
        totals[2 * blockIdx.x] = sum_a;
        totals[2 * blockIdx.x + 1] = sum_b;
    }
}

__global__ void distances(const int* a, const int* b, const int* totals,
                          float* hellinger, float* variation, int bins) {
    __shared__ float root[256], diff[256];
    int t = threadIdx.x;
    int r = blockIdx.x;
    float roots = 0.0f, diffs = 0.0f;
    for (int k = t; k < bins; k += 256) {
        float p = (float)a[(size_t)r * bins + k] / totals[2 * r];
        float q = (float)b[(size_t)r * bins + k] / totals[2 * r + 1];
        roots += sqrtf(p * q);
        diffs += fabsf(p - q);
    }
    root[t] = roots;
    diff[t] = diffs;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) {
            root[t] += root[t + s];
            diff[t] += diff[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        hellinger[r] = sqrtf(fmaxf(1.0f - root[0], 0.0f));
        variation[r] = 0.5f * diff[0];
    }
}

int main() {
    const size_t total = kRows * kBins;
    std::vector<int> h_a(total);
    std::vector<int> h_b(total);
    std::vector<float> h_hellinger(kRows);
    std::vector<float> h_variation(kRows);
    read_binary("data/a.bin", reinterpret_cast<float*>(h_a.data()), total);
    read_binary("data/b.bin", reinterpret_cast<float*>(h_b.data()), total);

    int* d_a;
    int* d_b;
    float* d_hellinger;
    float* d_variation;
    int* d_totals;
    cudaMalloc(&d_a, total * sizeof(int));
    cudaMalloc(&d_b, total * sizeof(int));
    cudaMalloc(&d_hellinger, kRows * sizeof(float));
    cudaMalloc(&d_variation, kRows * sizeof(float));
    cudaMalloc(&d_totals, 2 * kRows * sizeof(int));
    cudaMemcpy(d_a, h_a.data(), total * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b.data(), total * sizeof(int), cudaMemcpyHostToDevice);

    histogram_totals<<<kRows, 256>>>(d_a, d_b, d_totals, kBins);
    distances<<<kRows, 256>>>(d_a, d_b, d_totals, d_hellinger, d_variation, kBins);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_hellinger.data(), d_hellinger, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/hellinger.bin", h_hellinger.data(), kRows);
    cudaMemcpy(h_variation.data(), d_variation, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/variation.bin", h_variation.data(), kRows);

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_hellinger);
    cudaFree(d_variation);
    cudaFree(d_totals);
    return 0;
}
