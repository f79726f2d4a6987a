#define BLOCKS 500
#define WIDTH 20
constexpr int SIZE = BLOCKS * WIDTH;

__global__ void block_step(const float* param, const float* grad, const float* diag, const float* moment,
                           float* param_out, float* moment_out, int blocks, int width) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks) return;
    float h = 0.0f;
    for (int k = 0; k < width; k++) h += fabsf(diag[b * width + k]);
    h /= width;
    float m = 0.9f * moment[b] + 0.1f * h * h;
    moment_out[b] = m;
    float scale = 0.15f / (sqrtf(m) + 0.0001f);
    for (int k = 0; k < width; k++) {
        param_out[b * width + k] = param[b * width + k] - scale * grad[b * width + k];
    }
}

int main() {
    float* h_param = new float[SIZE];
    read_binary("data/param.bin", h_param, SIZE);
    float* h_grad = new float[SIZE];
    read_binary("data/grad.bin", h_grad, SIZE);
    float* h_diag = new float[SIZE];
    read_binary("data/diag.bin", h_diag, SIZE);
    float* h_moment = new float[BLOCKS];
    read_binary("data/moment.bin", h_moment, BLOCKS);

    float* d_param;
    cudaMalloc((void**)&d_param, sizeof(float) * SIZE);
    float* d_grad;
    cudaMalloc((void**)&d_grad, sizeof(float) * SIZE);
    float* d_diag;
    cudaMalloc((void**)&d_diag, sizeof(float) * SIZE);
    float* d_moment;
    cudaMalloc((void**)&d_moment, sizeof(float) * BLOCKS);
    float* d_param_out;
    cudaMalloc((void**)&d_param_out, sizeof(float) * SIZE);
    float* d_moment_out;
    cudaMalloc((void**)&d_moment_out, sizeof(float) * BLOCKS);

    cudaMemcpy(d_param, h_param, sizeof(float) * SIZE, cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad, sizeof(float) * SIZE, cudaMemcpyHostToDevice);
    cudaMemcpy(d_diag, h_diag, sizeof(float) * SIZE, cudaMemcpyHostToDevice);
    cudaMemcpy(d_moment, h_moment, sizeof(float) * BLOCKS, cudaMemcpyHostToDevice);

    dim3 block(256);
    dim3 grid((BLOCKS + block.x - 1) / block.x);
    block_step<<<grid, block>>>(d_param, d_grad, d_diag, d_moment, d_param_out, d_moment_out,
                                BLOCKS, WIDTH);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "error in the kernel: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    float* h_param_out = new float[SIZE];
    float* h_moment_out = new float[BLOCKS];
    cudaMemcpy(h_param_out, d_param_out, sizeof(float) * SIZE, cudaMemcpyDeviceToHost);
    write_binary("data/param_out.bin", h_param_out, SIZE);
    cudaMemcpy(h_moment_out, d_moment_out, sizeof(float) * BLOCKS, cudaMemcpyDeviceToHost);
    write_binary("data/moment_out.bin", h_moment_out, BLOCKS);
    cudaFree(d_param);
    cudaFree(d_grad);
    cudaFree(d_diag);
    cudaFree(d_moment);
    cudaFree(d_param_out);
    cudaFree(d_moment_out);
    delete[] h_param;
    delete[] h_grad;
    delete[] h_diag;
    delete[] h_moment;
    delete[] h_param_out;
    delete[] h_moment_out;
    return 0;
}
