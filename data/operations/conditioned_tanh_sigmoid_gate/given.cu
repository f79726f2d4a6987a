constexpr int kBatch = 2;
constexpr int kChannels = 5;
constexpr int kTime = 900;

__global__ void gated_unit(const float* x, const float* cond, float* z, int channels, int time) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int c = blockIdx.y;
    int b = blockIdx.z;
    if (t < time) {
        int filterRow = b * 2 * channels + c;
        int gateRow = filterRow + channels;
        float f = x[(size_t)filterRow * time + t] + cond[filterRow];
        float g = x[(size_t)gateRow * time + t] + cond[gateRow];
        z[((size_t)b * channels + c) * time + t] = tanhf(f) / (1.0f + expf(-g));
    }
}

int main() {
    const size_t n_x = kBatch * kChannels * 2 * kTime;
    const size_t n_cond = kBatch * kChannels * 2;
    const size_t n_z = (size_t)kBatch * kChannels * kTime;

    float* h_x = new float[n_x];
    float* h_cond = new float[n_cond];
    read_binary("data/x.bin", h_x, n_x);
    read_binary("data/cond.bin", h_cond, n_cond);

    float *d_x, *d_cond, *d_z;
    cudaMalloc(&d_x, n_x * sizeof(float));
    cudaMemcpy(d_x, h_x, n_x * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_cond, n_cond * sizeof(float));
    cudaMemcpy(d_cond, h_cond, n_cond * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_z, n_z * sizeof(float));

    dim3 block(256);
    dim3 grid((kTime + block.x - 1) / block.x, kChannels, kBatch);
    gated_unit<<<grid, block>>>(d_x, d_cond, d_z, kChannels, kTime);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "gated_unit: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    float* h_z = new float[n_z];
    cudaMemcpy(h_z, d_z, n_z * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/z.bin", h_z, n_z);

    cudaFree(d_x);
    cudaFree(d_cond);
    cudaFree(d_z);
    delete[] h_x;
    delete[] h_cond;
    delete[] h_z;
    return 0;
}
