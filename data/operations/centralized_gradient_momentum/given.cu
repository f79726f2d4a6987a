const int FILTERS = 60;
const int TAPS = 180;

// One block of 128 threads for each filter.
__global__ void centralized_step(const float* weight, const float* grad, const float* buffer,
                                 float* weight_out, float* buffer_out, int taps) {
    __shared__ float sums[128];
    int t = threadIdx.x;
    size_t row = (size_t)blockIdx.x * taps;
    float sum = 0.0f;
    for (int k = t; k < taps; k += 128) sum += grad[row + k] + 0.0005f * weight[row + k];
    sums[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    float mean = sums[0] / taps;
    for (int k = t; k < taps; k += 128) {
        float w = weight[row + k];
        float g = grad[row + k] + 0.0005f * w - mean;
        float b = 0.9f * buffer[row + k] + g;
        buffer_out[row + k] = b;
        weight_out[row + k] = w - 0.05f * (g + 0.9f * b);
    }
}

int main() {
    const int numel = FILTERS * TAPS;
    float* h_weight = new float[numel];
    float* h_grad = new float[numel];
    float* h_buffer = new float[numel];
    float* h_weight_out = new float[numel];
    float* h_buffer_out = new float[numel];
    read_binary("data/weight.bin", h_weight, numel);
    read_binary("data/grad.bin", h_grad, numel);
    read_binary("data/buffer.bin", h_buffer, numel);

    float* d_weight;
    cudaMalloc(&d_weight, numel * sizeof(float));
    cudaMemcpy(d_weight, h_weight, numel * sizeof(float), cudaMemcpyHostToDevice);
    float* d_grad;
    cudaMalloc(&d_grad, numel * sizeof(float));
    cudaMemcpy(d_grad, h_grad, numel * sizeof(float), cudaMemcpyHostToDevice);
    float* d_buffer;
    cudaMalloc(&d_buffer, numel * sizeof(float));
    cudaMemcpy(d_buffer, h_buffer, numel * sizeof(float), cudaMemcpyHostToDevice);
    float* d_weight_out;
    cudaMalloc(&d_weight_out, numel * sizeof(float));
    float* d_buffer_out;
    cudaMalloc(&d_buffer_out, numel * sizeof(float));

    centralized_step<<<FILTERS, 128>>>(d_weight, d_grad, d_buffer, d_weight_out, d_buffer_out, TAPS);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "error: " << cudaGetErrorString(status) << "\n";
        return 1;
    }

    cudaMemcpy(h_weight_out, d_weight_out, numel * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_buffer_out, d_buffer_out, numel * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/weight_out.bin", h_weight_out, numel);
    write_binary("data/buffer_out.bin", h_buffer_out, numel);

    cudaFree(d_weight);
    delete[] h_weight;
    cudaFree(d_grad);
    delete[] h_grad;
    cudaFree(d_buffer);
    delete[] h_buffer;
    cudaFree(d_weight_out);
    delete[] h_weight_out;
    cudaFree(d_buffer_out);
    delete[] h_buffer_out;
    return 0;
}
