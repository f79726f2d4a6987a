const int kN = 16000;
const int kThreads = 256;

__global__ void scaled_square_sum(const float* weight, const float* grad, float* total, int n) {
    __shared__ float partial[kThreads];
    int tid = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) {
        float v = (fabsf(weight[i]) + 0.01f) * grad[i];
        sum += v * v;
    }
    partial[tid] = sum;
    __syncthreads();
    for (int stride = kThreads / 2; stride > 0; stride /= 2) {
        if (tid < stride) partial[tid] += partial[tid + stride];
        __syncthreads();
    }
    if (tid == 0) atomicAdd(total, partial[0]);
}

__global__ void perturb_weights(const float* weight, const float* grad, const float* total,
                                float* perturbed, float* norm, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float length = sqrtf(total[0]);
    float t = fabsf(weight[i]) + 0.01f;
    perturbed[i] = weight[i] + 0.5f * t * t * grad[i] / (length + 1e-12f);
    if (i == 0) norm[0] = length;
}

int main() {
    std::vector<float> h_weight(kN);
    read_binary("data/weight.bin", h_weight.data(), kN);
    std::vector<float> h_grad(kN);
    read_binary("data/grad.bin", h_grad.data(), kN);
    std::vector<float> h_perturbed(kN);
    std::vector<float> h_norm(1);

    float* d_weight = nullptr;
    float* d_grad = nullptr;
    float* d_perturbed = nullptr;
    float* d_norm = nullptr;
    float* d_total = nullptr;
    cudaMalloc(&d_weight, kN * sizeof(float));
    cudaMemcpy(d_weight, h_weight.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_grad, kN * sizeof(float));
    cudaMemcpy(d_grad, h_grad.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_perturbed, kN * sizeof(float));
    cudaMalloc(&d_norm, sizeof(float));
    cudaMalloc(&d_total, sizeof(float));

    cudaMemset(d_total, 0, sizeof(float));
    int blocks = (kN + kThreads - 1) / kThreads;
    scaled_square_sum<<<128, kThreads>>>(d_weight, d_grad, d_total, kN);
    perturb_weights<<<blocks, kThreads>>>(d_weight, d_grad, d_total, d_perturbed, d_norm, kN);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << '\n';
        return 1;
    }

    cudaMemcpy(h_perturbed.data(), d_perturbed, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_norm.data(), d_norm, sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/perturbed.bin", h_perturbed.data(), kN);
    write_binary("data/norm.bin", h_norm.data(), 1);

    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_perturbed);
    cudaFree(d_norm);
    cudaFree(d_total);
    return 0;
}
