const int SAMPLES = 300;
const int CHANNELS = 70;

__global__ void update_statistics(const float* x, const float* running_mean, const float* running_var,
                                  float* new_mean, float* new_var, int samples, int channels) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    float mean = 0.0f;
    for (int s = 0; s < samples; ++s) mean += x[(size_t)s * channels + c];
    mean /= samples;
    float var = 0.0f;
    for (int s = 0; s < samples; ++s) {
        float d = x[(size_t)s * channels + c] - mean;
        var += d * d;
    }
    var /= samples - 1;
    new_mean[c] = 0.9f * running_mean[c] + 0.1f * mean;
    new_var[c] = 0.9f * running_var[c] + 0.1f * var;
}

int main() {
    size_t total_elements = (size_t)SAMPLES * CHANNELS;

    std::vector<float> h_x(total_elements);
    std::vector<float> h_running_mean(CHANNELS);
    std::vector<float> h_running_var(CHANNELS);
    std::vector<float> h_new_mean(CHANNELS);
    std::vector<float> h_new_var(CHANNELS);
    read_binary("data/x.bin", h_x.data(), total_elements);
    read_binary("data/running_mean.bin", h_running_mean.data(), CHANNELS);
    read_binary("data/running_var.bin", h_running_var.data(), CHANNELS);

    float *d_x, *d_running_mean, *d_running_var, *d_new_mean, *d_new_var;
    cudaMalloc(&d_x, total_elements * sizeof(float));
    cudaMalloc(&d_running_mean, CHANNELS * sizeof(float));
    cudaMalloc(&d_running_var, CHANNELS * sizeof(float));
    cudaMalloc(&d_new_mean, CHANNELS * sizeof(float));
    cudaMalloc(&d_new_var, CHANNELS * sizeof(float));

    cudaMemcpy(d_x, h_x.data(), total_elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_running_mean, h_running_mean.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_running_var, h_running_var.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(128);
    dim3 grid((CHANNELS + 128 - 1) / 128);
    update_statistics<<<grid, block>>>(d_x, d_running_mean, d_running_var, d_new_mean, d_new_var,
                                       SAMPLES, CHANNELS);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << '\n';
        return 1;
    }

    cudaMemcpy(h_new_mean.data(), d_new_mean, CHANNELS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/new_mean.bin", h_new_mean.data(), CHANNELS);
    cudaMemcpy(h_new_var.data(), d_new_var, CHANNELS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/new_var.bin", h_new_var.data(), CHANNELS);

    cudaFree(d_x);
    cudaFree(d_running_mean);
    cudaFree(d_running_var);
    cudaFree(d_new_mean);
    cudaFree(d_new_var);
    return 0;
}
