#define N 14000

__global__ void collect_moments(const float* theta, const float* mean, const float* square, const int* models,
                                float* mean_out, float* square_out, float* deviation, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float k = (float)models[0];
    float m = (k * mean[i] + theta[i]) / (k + 1.0f);
    float s = (k * square[i] + theta[i] * theta[i]) / (k + 1.0f);
    mean_out[i] = m;
    square_out[i] = s;
    deviation[i] = sqrtf(fmaxf(s - m * m, 1e-6f));
}

int main() {
    std::vector<float> h_theta(N);
    read_binary("data/theta.bin", h_theta.data(), N);
    std::vector<float> h_mean(N);
    read_binary("data/mean.bin", h_mean.data(), N);
    std::vector<float> h_square(N);
    read_binary("data/square.bin", h_square.data(), N);
    std::vector<int> h_models(1);
    read_binary("data/models.bin", reinterpret_cast<float*>(h_models.data()), 1);
    std::vector<float> h_mean_out(N);
    std::vector<float> h_square_out(N);
    std::vector<float> h_deviation(N);

    float *d_theta, *d_mean, *d_square, *d_mean_out, *d_square_out, *d_deviation;
    int *d_models;
    cudaMalloc(&d_theta, N * sizeof(float));
    cudaMalloc(&d_mean, N * sizeof(float));
    cudaMalloc(&d_square, N * sizeof(float));
    cudaMalloc(&d_models, sizeof(int));
    cudaMalloc(&d_mean_out, N * sizeof(float));
    cudaMalloc(&d_square_out, N * sizeof(float));
    cudaMalloc(&d_deviation, N * sizeof(float));
    cudaMemcpy(d_theta, h_theta.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_mean, h_mean.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_square, h_square.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_models, h_models.data(), sizeof(int), cudaMemcpyHostToDevice);

    const int threads = 128;
    const int blocks = (N + threads - 1) / threads;
    collect_moments<<<blocks, threads>>>(d_theta, d_mean, d_square, d_models,
                                         d_mean_out, d_square_out, d_deviation, N);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "GPU error" << std::endl;
        return 1;
    }

    cudaMemcpy(h_mean_out.data(), d_mean_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_square_out.data(), d_square_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_deviation.data(), d_deviation, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/mean_out.bin", h_mean_out.data(), N);
    write_binary("data/square_out.bin", h_square_out.data(), N);
    write_binary("data/deviation.bin", h_deviation.data(), N);

    cudaFree(d_deviation);
    cudaFree(d_square_out);
    cudaFree(d_mean_out);
    cudaFree(d_models);
    cudaFree(d_square);
    cudaFree(d_mean);
    cudaFree(d_theta);
    return 0;
}
