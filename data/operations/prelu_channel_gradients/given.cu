constexpr int kBatch = 3;
constexpr int kChannels = 7;
constexpr int kPlane = 500;

// One block per channel walks over that channel's planes of all batch items.
__global__ void rectifier_gradients(const float* x, const float* slope, const float* dy, float* dx,
                                    float* dslope, int batch, int channels, int plane) {
    __shared__ float sums[256];
    const int c = blockIdx.x;
    const float a = slope[c];
    float sum = 0.0f;
    for (int b = 0; b < batch; ++b) {
        const size_t base = ((size_t)b * channels + c) * plane;
        for (int i = threadIdx.x; i < plane; i += blockDim.x) {
            const float v = x[base + i], g = dy[base + i];
            if (v > 0.0f) {
                dx[base + i] = g;
            } else {
                dx[base + i] = a * g;
                sum += v * g;
            }
        }
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) dslope[c] = sums[0];
}

int main() {
    const size_t n = (size_t)kBatch * kChannels * kPlane;
    std::vector<float> h_x(n);
    read_binary("data/x.bin", h_x.data(), n);
    std::vector<float> h_slope(kChannels);
    read_binary("data/slope.bin", h_slope.data(), kChannels);
    std::vector<float> h_dy(n);
    read_binary("data/dy.bin", h_dy.data(), n);
    std::vector<float> h_dx(n);
    std::vector<float> h_dslope(kChannels);

    float* d_x;
    cudaMalloc(&d_x, n * sizeof(float));
    float* d_slope;
    cudaMalloc(&d_slope, kChannels * sizeof(float));
    float* d_dy;
    cudaMalloc(&d_dy, n * sizeof(float));
    float* d_dx;
    cudaMalloc(&d_dx, n * sizeof(float));
    float* d_dslope;
    cudaMalloc(&d_dslope, kChannels * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_slope, h_slope.data(), kChannels * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_dy, h_dy.data(), n * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid(kChannels);
    dim3 block(256);
    rectifier_gradients<<<grid, block>>>(d_x, d_slope, d_dy, d_dx, d_dslope, kBatch, kChannels, kPlane);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(h_dx.data(), d_dx, n * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/dx.bin", h_dx.data(), n);
    cudaMemcpy(h_dslope.data(), d_dslope, kChannels * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/dslope.bin", h_dslope.data(), kChannels);
    cudaFree(d_x);
    cudaFree(d_slope);
    cudaFree(d_dy);
    cudaFree(d_dx);
    cudaFree(d_dslope);
    return 0;
}
