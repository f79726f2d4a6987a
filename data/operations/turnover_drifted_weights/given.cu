constexpr int kDays = 120;
constexpr int kAssets = 200;
constexpr int kBlock = 256;

__device__ float block_total(float v) {
    __shared__ float part[kBlock];
    part[threadIdx.x] = v;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    float result = part[0];
    __syncthreads();
    return result;
}

__global__ void daily_turnover(const float* weight, const float* asset_return, float* turnover,
                               float* net_return, int assets) {
    int t = blockIdx.x;
    const float* now = weight + (size_t)t * assets;
    const float* before = now - assets;
    const float* r = asset_return + (size_t)t * assets;
    float sum = 0.0f;
    if (t > 0) {
        for (int a = threadIdx.x; a < assets; a += kBlock) sum += before[a] * (1.0f + r[a]);
    }
    float g = block_total(sum);
    if (t == 0) g = 1.0f;
    float moved = 0.0f;
    for (int a = threadIdx.x; a < assets; a += kBlock) {
        float held = t > 0 ? before[a] * (1.0f + r[a]) / g : 0.0f;
        moved += fabsf(now[a] - held);
    }
    moved = 0.5f * block_total(moved);
    if (threadIdx.x == 0) {
        turnover[t] = moved;
        net_return[t] = g - 1.0f - 0.002f * moved;
    }
}

int main() {
    const size_t length = kDays * kAssets;
    const size_t size_bytes = length * sizeof(float);

    std::vector<float> h_weight(length);
    std::vector<float> h_asset_return(length);
    std::vector<float> h_turnover(kDays);
    std::vector<float> h_net_return(kDays);

    read_binary("data/weight.bin", h_weight.data(), length);
    read_binary("data/asset_return.bin", h_asset_return.data(), length);

    float* d_weight = nullptr;
    float* d_asset_return = nullptr;
    float* d_turnover = nullptr;
    float* d_net_return = nullptr;
    cudaMalloc(&d_weight, size_bytes);
    cudaMalloc(&d_asset_return, size_bytes);
    cudaMalloc(&d_turnover, kDays * sizeof(float));
    cudaMalloc(&d_net_return, kDays * sizeof(float));
    cudaMemcpy(d_weight, h_weight.data(), size_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_asset_return, h_asset_return.data(), size_bytes, cudaMemcpyHostToDevice);

    daily_turnover<<<kDays, kBlock>>>(d_weight, d_asset_return, d_turnover, d_net_return, kAssets);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_turnover.data(), d_turnover, kDays * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_net_return.data(), d_net_return, kDays * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/turnover.bin", h_turnover.data(), kDays);
    write_binary("data/net_return.bin", h_net_return.data(), kDays);

    cudaFree(d_weight);
    cudaFree(d_asset_return);
    cudaFree(d_turnover);
    cudaFree(d_net_return);
    return 0;
}
