const int N = 12000;
const int TENSORS = 5;

__global__ void yogi_kernel(const float* param, const float* grad, const float* m, const float* v,
                            const int* start, const float* rate, float* param_out, float* v_out,
                            int n, int tensors) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = tensors - 1;
    while (k > 0 && start[k] > i) --k;
    float g = grad[i];
    float square = g * g;
    float d = v[i] - square;
    float sign = 0.0f;
    if (d > 0.0f) sign = 1.0f;
    if (d < 0.0f) sign = -1.0f;
    float v_new = v[i] - 0.001f * sign * square;
    float m_new = 0.9f * m[i] + 0.1f * g;
    v_out[i] = v_new;
    param_out[i] = param[i] - rate[k] * m_new / (sqrtf(v_new) + 0.001f);
}

int main() {
    const size_t bytes = N * sizeof(float);

    std::vector<float> h_param(N);
    read_binary("data/param.bin", h_param.data(), N);
    std::vector<float> h_grad(N);
    read_binary("data/grad.bin", h_grad.data(), N);
    std::vector<float> h_m(N);
    read_binary("data/m.bin", h_m.data(), N);
    std::vector<float> h_v(N);
    read_binary("data/v.bin", h_v.data(), N);
    std::vector<int> h_start(TENSORS);
    read_binary("data/start.bin", reinterpret_cast<float*>(h_start.data()), TENSORS);
    std::vector<float> h_rate(TENSORS);
    read_binary("data/rate.bin", h_rate.data(), TENSORS);
    std::vector<float> h_param_out(N);
    std::vector<float> h_v_out(N);

    float *d_param, *d_grad, *d_m, *d_v, *d_rate, *d_param_out, *d_v_out;
    int* d_start;
    cudaMalloc(&d_param, bytes);
    cudaMemcpy(d_param, h_param.data(), bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_grad, bytes);
    cudaMemcpy(d_grad, h_grad.data(), bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_m, bytes);
    cudaMemcpy(d_m, h_m.data(), bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_v, bytes);
    cudaMemcpy(d_v, h_v.data(), bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_start, TENSORS * sizeof(int));
    cudaMemcpy(d_start, h_start.data(), TENSORS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_rate, TENSORS * sizeof(float));
    cudaMemcpy(d_rate, h_rate.data(), TENSORS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_param_out, bytes);
    cudaMalloc(&d_v_out, bytes);

    int num_threads = 256;
    int num_blocks = (N + num_threads - 1) / num_threads;
    yogi_kernel<<<num_blocks, num_threads>>>(d_param, d_grad, d_m, d_v, d_start, d_rate, d_param_out,
        d_v_out, N, TENSORS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_param_out.data(), d_param_out, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/param_out.bin", h_param_out.data(), N);
    cudaMemcpy(h_v_out.data(), d_v_out, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/v_out.bin", h_v_out.data(), N);

    cudaFree(d_param);
    cudaFree(d_grad);
    cudaFree(d_m);
    cudaFree(d_v);
    cudaFree(d_start);
    cudaFree(d_rate);
    cudaFree(d_param_out);
    cudaFree(d_v_out);
    return 0;
}
