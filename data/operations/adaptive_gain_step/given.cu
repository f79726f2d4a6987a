constexpr int kPoints = 5000;
constexpr int kDims = 2;
constexpr int kTotal = kPoints * kDims;

__global__ void update_points(const float* y, const float* grad, const float* velocity, const float* gain,
                              float* y_out, float* velocity_out, float* gain_out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool same_sign = (grad[i] > 0.0f) == (velocity[i] > 0.0f);
    float g = same_sign ? 0.8f * gain[i] : gain[i] + 0.2f;
    g = fmaxf(g, 0.01f);
    float speed = 0.5f * velocity[i] - 200.0f * g * grad[i];
    gain_out[i] = g;
    velocity_out[i] = speed;
    y_out[i] = y[i] + speed;
}

// One block for each coordinate: find the mean over the points and subtract it.
__global__ void center_points(float* y_out, int points, int dims) {
    __shared__ float sums[512];
    int t = threadIdx.x;
    int d = blockIdx.x;
    float sum = 0.0f;
    for (int p = t; p < points; p += 512) sum += y_out[p * dims + d];
    sums[t] = sum;
    __syncthreads();
    for (int s = 256; s > 0; s /= 2) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    float mean = sums[0] / points;
    for (int p = t; p < points; p += 512) y_out[p * dims + d] -= mean;
}

int main() {
    const size_t size_bytes = kTotal * sizeof(float);

    float* h_y = new float[kTotal];
    float* h_grad = new float[kTotal];
    float* h_velocity = new float[kTotal];
    float* h_gain = new float[kTotal];
    float* h_y_out = new float[kTotal];
    float* h_velocity_out = new float[kTotal];
    float* h_gain_out = new float[kTotal];
    read_binary("data/y.bin", h_y, kTotal);
    read_binary("data/grad.bin", h_grad, kTotal);
    read_binary("data/velocity.bin", h_velocity, kTotal);
    read_binary("data/gain.bin", h_gain, kTotal);

    float *d_y, *d_grad, *d_velocity, *d_gain, *d_y_out, *d_velocity_out, *d_gain_out;
    cudaMalloc(&d_y, size_bytes);
    cudaMalloc(&d_grad, size_bytes);
    cudaMalloc(&d_velocity, size_bytes);
    cudaMalloc(&d_gain, size_bytes);
    cudaMalloc(&d_y_out, size_bytes);
    cudaMalloc(&d_velocity_out, size_bytes);
    cudaMalloc(&d_gain_out, size_bytes);
    cudaMemcpy(d_y, h_y, size_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad, size_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_velocity, h_velocity, size_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_gain, h_gain, size_bytes, cudaMemcpyHostToDevice);

    const int threads = 256;
    update_points<<<(kTotal + threads - 1) / threads, threads>>>(d_y, d_grad, d_velocity, d_gain,
                                                                 d_y_out, d_velocity_out, d_gain_out, kTotal);
    center_points<<<kDims, 512>>>(d_y_out, kPoints, kDims);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "GPU error" << std::endl;
        return 1;
    }

    cudaMemcpy(h_y_out, d_y_out, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/y_out.bin", h_y_out, kTotal);
    cudaMemcpy(h_velocity_out, d_velocity_out, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/velocity_out.bin", h_velocity_out, kTotal);
    cudaMemcpy(h_gain_out, d_gain_out, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/gain_out.bin", h_gain_out, kTotal);

    cudaFree(d_y);
    cudaFree(d_grad);
    cudaFree(d_velocity);
    cudaFree(d_gain);
    cudaFree(d_y_out);
    cudaFree(d_velocity_out);
    cudaFree(d_gain_out);
    delete[] h_y;
    delete[] h_grad;
    delete[] h_velocity;
    delete[] h_gain;
    delete[] h_y_out;
    delete[] h_velocity_out;
    delete[] h_gain_out;
    return 0;
}
