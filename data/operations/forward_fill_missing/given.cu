constexpr int kSteps = 300;
constexpr int kChannels = 80;

__global__ void fill_channels(const float* x, const uint8_t* valid, const float* initial, float* filled,
                              int steps, int channels) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= channels) return;
    float current = initial[k];
    for (int t = 0; t < steps; ++t) {
        int i = t * channels + k;
        if (valid[i] != 0) current = x[i];
        filled[i] = current;
    }
}

int main() {
    const size_t total = kSteps * kChannels;
    const size_t valid_floats = (total + 3) / 4;

    std::vector<float> h_x(total);
    std::vector<uint8_t> h_valid(4 * valid_floats);
    std::vector<float> h_initial(kChannels);
    std::vector<float> h_filled(total);
    read_binary("data/x.bin", h_x.data(), total);
    read_binary("data/valid.bin", reinterpret_cast<float*>(h_valid.data()), valid_floats);
    read_binary("data/initial.bin", h_initial.data(), kChannels);

    float *d_x, *d_initial, *d_filled;
    uint8_t *d_valid;
    cudaMalloc(&d_x, total * sizeof(float));
    cudaMalloc(&d_valid, total * sizeof(uint8_t));
    cudaMalloc(&d_initial, kChannels * sizeof(float));
    cudaMalloc(&d_filled, total * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_valid, h_valid.data(), total * sizeof(uint8_t), cudaMemcpyHostToDevice);
    cudaMemcpy(d_initial, h_initial.data(), kChannels * sizeof(float), cudaMemcpyHostToDevice);

    const int block = 128;
    const int grid = (kChannels + block - 1) / block;
    fill_channels<<<grid, block>>>(d_x, d_valid, d_initial, d_filled, kSteps, kChannels);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_filled.data(), d_filled, total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/filled.bin", h_filled.data(), total);

    cudaFree(d_x);
    cudaFree(d_valid);
    cudaFree(d_initial);
    cudaFree(d_filled);
    return 0;
}
