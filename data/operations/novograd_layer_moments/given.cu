constexpr int LAYERS = 24;
constexpr int WIDTH = 500;
constexpr int COUNT = LAYERS * WIDTH;

__global__ void novograd(const float* weight, const float* grad, const float* moment,
                         const float* second, float* weight_out, float* moment_out, float* second_out,
                         int width) {
    __shared__ float sums[256];
    int layer = blockIdx.x, t = threadIdx.x;
    size_t base = (size_t)layer * width;
    float q = 0.0f;
    for (int i = t; i < width; i += blockDim.x) q += grad[base + i] * grad[base + i];
    sums[t] = q;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    float v = second[layer];
    v = v == 0.0f ? sums[0] : 0.98f * v + 0.02f * sums[0];
    if (t == 0) second_out[layer] = v;
    float n = sqrtf(v) + 1e-8f;
    for (int i = t; i < width; i += blockDim.x) {
        float w = weight[base + i];
        float m = 0.95f * moment[base + i] + (grad[base + i] / n + 0.001f * w);
        moment_out[base + i] = m;
        weight_out[base + i] = w - 0.01f * m;
    }
}

int main() {
    std::vector<float> h_weight(COUNT);
    read_binary("data/weight.bin", h_weight.data(), COUNT);
    std::vector<float> h_grad(COUNT);
    read_binary("data/grad.bin", h_grad.data(), COUNT);
    std::vector<float> h_moment(COUNT);
    read_binary("data/moment.bin", h_moment.data(), COUNT);
    std::vector<float> h_second(LAYERS);
    read_binary("data/second.bin", h_second.data(), LAYERS);
    std::vector<float> h_weight_out(COUNT);
    std::vector<float> h_moment_out(COUNT);
    std::vector<float> h_second_out(LAYERS);

    float* d_weight = nullptr;
    cudaMalloc(&d_weight, COUNT * sizeof(float));
    float* d_grad = nullptr;
    cudaMalloc(&d_grad, COUNT * sizeof(float));
    float* d_moment = nullptr;
    cudaMalloc(&d_moment, COUNT * sizeof(float));
    float* d_second = nullptr;
    cudaMalloc(&d_second, LAYERS * sizeof(float));
    float* d_weight_out = nullptr;
    cudaMalloc(&d_weight_out, COUNT * sizeof(float));
    float* d_moment_out = nullptr;
    cudaMalloc(&d_moment_out, COUNT * sizeof(float));
    float* d_second_out = nullptr;
    cudaMalloc(&d_second_out, LAYERS * sizeof(float));
    cudaMemcpy(d_weight, h_weight.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_moment, h_moment.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_second, h_second.data(), LAYERS * sizeof(float), cudaMemcpyHostToDevice);

    novograd<<<LAYERS, 256>>>(d_weight, d_grad, d_moment, d_second, d_weight_out, d_moment_out,
                              d_second_out, WIDTH);
    cudaDeviceSynchronize();

    cudaMemcpy(h_weight_out.data(), d_weight_out, COUNT * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/weight_out.bin", h_weight_out.data(), COUNT);
    cudaMemcpy(h_moment_out.data(), d_moment_out, COUNT * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/moment_out.bin", h_moment_out.data(), COUNT);
    cudaMemcpy(h_second_out.data(), d_second_out, LAYERS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/second_out.bin", h_second_out.data(), LAYERS);
    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_moment);
    cudaFree(d_second);
    cudaFree(d_weight_out);
    cudaFree(d_moment_out);
    cudaFree(d_second_out);

    return 0;
}
