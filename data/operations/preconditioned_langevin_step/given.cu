const int kChains = 8;
const int kDim = 1500;
const int kTotal = kChains * kDim;

__global__ void langevin(const float* theta, const float* grad, const float* noise, const float* second,
                         const float* rate, float* theta_out, float* second_out, int chains, int dim) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chains * dim) return;
    float h = rate[i / dim];
    float s = 0.99f * second[i] + 0.01f * grad[i] * grad[i];
    float p = 1.0f / (sqrtf(s) + 1e-5f);
    second_out[i] = s;
    theta_out[i] = theta[i] - 0.5f * h * p * grad[i] + sqrtf(h * p) * noise[i];
}

int main() {
    float* h_theta = new float[kTotal];
    float* h_grad = new float[kTotal];
    float* h_noise = new float[kTotal];
    float* h_second = new float[kTotal];
    float* h_rate = new float[kChains];
    float* h_theta_out = new float[kTotal];
    float* h_second_out = new float[kTotal];

    read_binary("data/theta.bin", h_theta, kTotal);
    read_binary("data/grad.bin", h_grad, kTotal);
    read_binary("data/noise.bin", h_noise, kTotal);
    read_binary("data/second.bin", h_second, kTotal);
    read_binary("data/rate.bin", h_rate, kChains);

    float* d_theta = nullptr;
    float* d_grad = nullptr;
    float* d_noise = nullptr;
    float* d_second = nullptr;
    float* d_rate = nullptr;
    float* d_theta_out = nullptr;
    float* d_second_out = nullptr;
    cudaMalloc(&d_theta, kTotal * sizeof(float));
    cudaMalloc(&d_grad, kTotal * sizeof(float));
    cudaMalloc(&d_noise, kTotal * sizeof(float));
    cudaMalloc(&d_second, kTotal * sizeof(float));
    cudaMalloc(&d_rate, kChains * sizeof(float));
    cudaMalloc(&d_theta_out, kTotal * sizeof(float));
    cudaMalloc(&d_second_out, kTotal * sizeof(float));
    cudaMemcpy(d_theta, h_theta, kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad, kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_noise, h_noise, kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_second, h_second, kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_rate, h_rate, kChains * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(256);
    dim3 grid((kTotal + 256 - 1) / 256);
    langevin<<<grid, block>>>(d_theta, d_grad, d_noise, d_second, d_rate, d_theta_out,
                              d_second_out, kChains, kDim);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(h_theta_out, d_theta_out, kTotal * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/theta_out.bin", h_theta_out, kTotal);
    cudaMemcpy(h_second_out, d_second_out, kTotal * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/second_out.bin", h_second_out, kTotal);

    cudaFree(d_theta);
    cudaFree(d_grad);
    cudaFree(d_noise);
    cudaFree(d_second);
    cudaFree(d_rate);
    cudaFree(d_theta_out);
    cudaFree(d_second_out);
    delete[] h_theta;
    delete[] h_grad;
    delete[] h_noise;
    delete[] h_second;
    delete[] h_rate;
    delete[] h_theta_out;
    delete[] h_second_out;
    return 0;
}
