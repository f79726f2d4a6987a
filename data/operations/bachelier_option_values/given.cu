constexpr int N = 5000;

__global__ void bachelier_values(const float* forward, const float* strike, const float* deviation,
                                 const float* expiry, float* call, float* put, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float gap = forward[i] - strike[i];
    float w = deviation[i] * sqrtf(expiry[i]);
    if (w == 0.0f) {
        call[i] = fmaxf(gap, 0.0f);
        put[i] = fmaxf(-gap, 0.0f);
    } else {
        float z = gap / w;
        float distribution = 0.5f * erfcf(-z * 0.70710678f);
        float density = 0.39894228f * expf(-0.5f * z * z);
        float value = gap * distribution + w * density;
        call[i] = value;
        put[i] = value - gap;
    }
}

int main() {
    float* h_forward = new float[N];
    float* h_strike = new float[N];
    float* h_deviation = new float[N];
    float* h_expiry = new float[N];
    float* h_call = new float[N];
    float* h_put = new float[N];

    read_binary("data/forward.bin", h_forward, N);
    read_binary("data/strike.bin", h_strike, N);
    read_binary("data/deviation.bin", h_deviation, N);
    read_binary("data/expiry.bin", h_expiry, N);

    float* d_forward = nullptr;
    float* d_strike = nullptr;
    float* d_deviation = nullptr;
    float* d_expiry = nullptr;
    float* d_call = nullptr;
    float* d_put = nullptr;
    cudaMalloc(&d_forward, sizeof(float) * N);
    cudaMalloc(&d_strike, sizeof(float) * N);
    cudaMalloc(&d_deviation, sizeof(float) * N);
    cudaMalloc(&d_expiry, sizeof(float) * N);
    cudaMalloc(&d_call, sizeof(float) * N);
    cudaMalloc(&d_put, sizeof(float) * N);

    cudaMemcpy(d_forward, h_forward, sizeof(float) * N, cudaMemcpyHostToDevice);
    cudaMemcpy(d_strike, h_strike, sizeof(float) * N, cudaMemcpyHostToDevice);
    cudaMemcpy(d_deviation, h_deviation, sizeof(float) * N, cudaMemcpyHostToDevice);
    cudaMemcpy(d_expiry, h_expiry, sizeof(float) * N, cudaMemcpyHostToDevice);

    const int threads_per_block = 128;
    const int num_blocks = (N + threads_per_block - 1) / threads_per_block;
    bachelier_values<<<num_blocks, threads_per_block>>>(d_forward, d_strike, d_deviation, d_expiry, d_call,
            d_put, N);
    cudaDeviceSynchronize();

    cudaMemcpy(h_call, d_call, sizeof(float) * N, cudaMemcpyDeviceToHost);
    write_binary("data/call.bin", h_call, N);
    cudaMemcpy(h_put, d_put, sizeof(float) * N, cudaMemcpyDeviceToHost);
    write_binary("data/put.bin", h_put, N);

    cudaFree(d_forward);
    cudaFree(d_strike);
    cudaFree(d_deviation);
    cudaFree(d_expiry);
    cudaFree(d_call);
    cudaFree(d_put);
    delete[] h_forward;
    delete[] h_strike;
    delete[] h_deviation;
    delete[] h_expiry;
    delete[] h_call;
    delete[] h_put;
    return 0;
}
