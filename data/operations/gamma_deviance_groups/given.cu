constexpr int N = 12000;
constexpr int GROUPS = 30;

__global__ void add_deviance(const float* observed, const float* predicted, const int* group, float* sum,
                             int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float y = observed[i], u = predicted[i];
        atomicAdd(&sum[group[i]], 2.0f * ((y - u) / u - logf(y / u)));
        atomicAdd(&count[group[i]], 1);
    }
}

__global__ void average(const float* sum, const int* count, float* deviance, int groups) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g < groups) deviance[g] = count[g] > 0 ? sum[g] / count[g] : 0.0f;
}

int main() {
    const size_t observed_bytes = N * sizeof(float);
    const size_t group_bytes = N * sizeof(int);
    const size_t deviance_bytes = GROUPS * sizeof(float);
    std::vector<float> h_observed(N);
    std::vector<float> h_predicted(N);
    std::vector<int> h_group(N);
    std::vector<float> h_deviance(GROUPS);

    read_binary("data/observed.bin", h_observed.data(), N);
    read_binary("data/predicted.bin", h_predicted.data(), N);
    read_binary("data/group.bin", reinterpret_cast<float*>(h_group.data()), N);

    float* d_observed = nullptr;
    float* d_predicted = nullptr;
    int* d_group = nullptr;
    float* d_deviance = nullptr;
    cudaMalloc((void**)&d_observed, observed_bytes);
    cudaMalloc((void**)&d_predicted, observed_bytes);
    cudaMalloc((void**)&d_group, group_bytes);
    cudaMalloc((void**)&d_deviance, deviance_bytes);
    cudaMemcpy(d_observed, h_observed.data(), observed_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_predicted, h_predicted.data(), observed_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_group, h_group.data(), group_bytes, cudaMemcpyHostToDevice);
    float* d_sum;
    cudaMalloc(&d_sum, GROUPS * sizeof(float));
    int* d_count;
    cudaMalloc(&d_count, GROUPS * sizeof(int));
    cudaMemset(d_sum, 0, GROUPS * sizeof(float));
    cudaMemset(d_count, 0, GROUPS * sizeof(int));

    const int threads = 256;
    add_deviance<<<(N + threads - 1) / threads, threads>>>(d_observed, d_predicted, d_group,
            d_sum, d_count, N);
    average<<<(GROUPS + threads - 1) / threads, threads>>>(d_sum, d_count, d_deviance, GROUPS);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_deviance.data(), d_deviance, deviance_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/deviance.bin", h_deviance.data(), GROUPS);
    cudaFree(d_observed);
    cudaFree(d_predicted);
    cudaFree(d_group);
    cudaFree(d_deviance);
    cudaFree(d_sum);
    cudaFree(d_count);
    return 0;
}
