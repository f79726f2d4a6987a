const int ROWS = 120;
const int DIM = 64;

__global__ void adamax_rows(const float* weight, const float* grad, const float* moment, const float* norm,
                            const int* step, float* weight_out, float* moment_out, float* norm_out,
                            int rows, int dim) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * dim) return;
    float w = weight[i];
    float m = moment[i];
    float u = norm[i];
    int t = step[i / dim];
    if (t > 0) {
        float g = grad[i];
        m = 0.9f * m + 0.1f * g;
        u = fmaxf(0.999f * u, fabsf(g) + 1e-7f);
        w -= 0.002f / (1.0f - powf(0.9f, (float)t)) * m / u;
    }
    weight_out[i] = w;
    moment_out[i] = m;
    norm_out[i] = u;
}

int main() {
    const size_t count = (size_t)ROWS * DIM;
    size_t size_bytes = count * sizeof(float);

    std::vector<float> h_weight(count);
    read_binary("data/weight.bin", h_weight.data(), count);
    std::vector<float> h_grad(count);
    read_binary("data/grad.bin", h_grad.data(), count);
    std::vector<float> h_moment(count);
    read_binary("data/moment.bin", h_moment.data(), count);
    std::vector<float> h_norm(count);
    read_binary("data/norm.bin", h_norm.data(), count);
    std::vector<int> h_step(ROWS);
    read_binary("data/step.bin", (float*)h_step.data(), ROWS);
    std::vector<float> h_weight_out(count);
    std::vector<float> h_moment_out(count);
    std::vector<float> h_norm_out(count);

    float *d_weight, *d_grad, *d_moment, *d_norm, *d_weight_out, *d_moment_out, *d_norm_out;
    int* d_step;
    cudaMalloc(&d_weight, size_bytes);
    cudaMemcpy(d_weight, h_weight.data(), size_bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_grad, size_bytes);
    cudaMemcpy(d_grad, h_grad.data(), size_bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_moment, size_bytes);
    cudaMemcpy(d_moment, h_moment.data(), size_bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_norm, size_bytes);
    cudaMemcpy(d_norm, h_norm.data(), size_bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_step, sizeof(int) * ROWS);
    cudaMemcpy(d_step, h_step.data(), sizeof(int) * ROWS, cudaMemcpyHostToDevice);
    cudaMalloc(&d_weight_out, size_bytes);
    cudaMalloc(&d_moment_out, size_bytes);
    cudaMalloc(&d_norm_out, size_bytes);

    dim3 block(256);
    dim3 grid((count + block.x - 1) / block.x);
    adamax_rows<<<grid, block>>>(d_weight, d_grad, d_moment, d_norm, d_step, d_weight_out, d_moment_out,
        d_norm_out, ROWS, DIM);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_weight_out.data(), d_weight_out, size_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_moment_out.data(), d_moment_out, size_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_norm_out.data(), d_norm_out, size_bytes, cudaMemcpyDeviceToHost);

    write_binary("data/weight_out.bin", h_weight_out.data(), count);
    write_binary("data/moment_out.bin", h_moment_out.data(), count);
    write_binary("data/norm_out.bin", h_norm_out.data(), count);

    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_moment);
    cudaFree(d_norm);
    cudaFree(d_step);
    cudaFree(d_weight_out);
    cudaFree(d_moment_out);
    cudaFree(d_norm_out);
    return 0;
}
