constexpr int kStacks = 40;
constexpr int kPlates = 100;
constexpr int kSteps = 20;

__device__ float fourth_power(float u) {
    return u * u * u * u;
}

__global__ void radiate(const float* u, const float* rate, float* next, int plates, int total) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= total) return;
    int i = k % plates;
    float value = u[k];
    if (i > 0 && i < plates - 1) {
        float flow = fourth_power(u[k - 1]) + fourth_power(u[k + 1]) - 2.0f * fourth_power(u[k]);
        value += rate[i] * flow;
    }
    next[k] = value;
}

int main() {
    const int total = kStacks * kPlates;
    const size_t buffer_bytes = total * sizeof(float);
    float* h_warmth = new float[total];
    read_binary("data/warmth.bin", h_warmth, total);
    float* d_warmth;
    cudaMalloc(&d_warmth, buffer_bytes);
    cudaMemcpy(d_warmth, h_warmth, buffer_bytes, cudaMemcpyHostToDevice);

    float* h_rate = new float[kPlates];
    read_binary("data/rate.bin", h_rate, kPlates);
    float* d_rate;
    cudaMalloc(&d_rate, kPlates * sizeof(float));
    cudaMemcpy(d_rate, h_rate, kPlates * sizeof(float), cudaMemcpyHostToDevice);

    float* h_result = new float[total];
    float* d_result;
    cudaMalloc(&d_result, buffer_bytes);
    float* d_other;
    cudaMalloc(&d_other, buffer_bytes);

    const int threads = 256;
    const int blocks = (total + threads - 1) / threads;
    radiate<<<blocks, threads>>>(d_warmth, d_rate, d_result, kPlates, total);
    for (int step = 1; step < kSteps; ++step) {
        std::swap(d_result, d_other);
        radiate<<<blocks, threads>>>(d_other, d_rate, d_result, kPlates, total);
    }
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "launch failed\n";
        return 1;
    }

    cudaMemcpy(h_result, d_result, buffer_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/result.bin", h_result, total);

    delete[] h_warmth;
    delete[] h_rate;
    delete[] h_result;
    cudaFree(d_warmth);
    cudaFree(d_rate);
    cudaFree(d_result);
    cudaFree(d_other);
    return 0;
}
