const int ROWS = 28;
const int COLS = 600;

__global__ void mish_backward(const float* x, const float* grad_out, float* grad_in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    float softplus = fmaxf(v, 0.0f) + log1pf(expf(-fabsf(v)));
    float w = tanhf(softplus);
    float sigmoid = 1.0f / (1.0f + expf(-v));
    grad_in[i] = grad_out[i] * (w + v * sigmoid * (1.0f - w * w));
}

int main() {
    const int n = ROWS * COLS;
    float* h_x = new float[n];
    read_binary("data/x.bin", h_x, n);
    float* h_grad_out = new float[n];
    read_binary("data/grad_out.bin", h_grad_out, n);
    float* h_grad_in = new float[n];

    float *d_x, *d_grad_out, *d_grad_in;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_grad_out, n * sizeof(float));
    cudaMalloc(&d_grad_in, n * sizeof(float));
    cudaMemcpy(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad_out, h_grad_out, n * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(512);
    dim3 grid((n + 511) / 512);
    mish_backward<<<grid, block>>>(d_x, d_grad_out, d_grad_in, n);
    cudaDeviceSynchronize();

    cudaMemcpy(h_grad_in, d_grad_in, n * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/grad_in.bin", h_grad_in, n);

    cudaFree(d_x);
    delete[] h_x;
    cudaFree(d_grad_out);
    delete[] h_grad_out;
    cudaFree(d_grad_in);
    delete[] h_grad_in;
    return 0;
}
