constexpr int PROBLEMS = 100;
constexpr int DIM = 120;

__global__ void barzilai_borwein(const float* x, const float* x_prev, const float* grad, const float* grad_prev,
                                 float* x_out, float* alpha, int dim) {
    __shared__ float sum_sy[128];
    __shared__ float sum_yy[128];
    int tid = threadIdx.x;
    size_t start = (size_t)blockIdx.x * dim;
    float sy = 0.0f;
    float yy = 0.0f;
    for (int k = tid; k < dim; k += blockDim.x) {
        float s = x[start + k] - x_prev[start + k];
        float y = grad[start + k] - grad_prev[start + k];
        sy += s * y;
        yy += y * y;
    }
    sum_sy[tid] = sy;
    sum_yy[tid] = yy;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) {
            sum_sy[tid] += sum_sy[tid + stride];
            sum_yy[tid] += sum_yy[tid + stride];
        }
        __syncthreads();
    }
    float length = 0.01f;
    if (sum_sy[0] > 1e-6f) length = fminf(fmaxf(sum_sy[0] / sum_yy[0], 0.001f), 2.0f);
    for (int k = tid; k < dim; k += blockDim.x) x_out[start + k] = x[start + k] - length * grad[start + k];
    if (tid == 0) alpha[blockIdx.x] = length;
}

int main() {
    const int elements = PROBLEMS * DIM;

    float* d_x;
    cudaMalloc(&d_x, elements * sizeof(float));
    float* d_x_prev;
    cudaMalloc(&d_x_prev, elements * sizeof(float));
    float* d_grad;
    cudaMalloc(&d_grad, elements * sizeof(float));
    float* d_grad_prev;
    cudaMalloc(&d_grad_prev, elements * sizeof(float));
    float* d_x_out;
    cudaMalloc(&d_x_out, elements * sizeof(float));
    float* d_alpha;
    cudaMalloc(&d_alpha, PROBLEMS * sizeof(float));

    float* h_x = new float[elements];
    read_binary("data/x.bin", h_x, elements);
    cudaMemcpy(d_x, h_x, elements * sizeof(float), cudaMemcpyHostToDevice);
    float* h_x_prev = new float[elements];
    read_binary("data/x_prev.bin", h_x_prev, elements);
    cudaMemcpy(d_x_prev, h_x_prev, elements * sizeof(float), cudaMemcpyHostToDevice);
    float* h_grad = new float[elements];
    read_binary("data/grad.bin", h_grad, elements);
    cudaMemcpy(d_grad, h_grad, elements * sizeof(float), cudaMemcpyHostToDevice);
    float* h_grad_prev = new float[elements];
    read_binary("data/grad_prev.bin", h_grad_prev, elements);
    cudaMemcpy(d_grad_prev, h_grad_prev, elements * sizeof(float), cudaMemcpyHostToDevice);

    barzilai_borwein<<<PROBLEMS, 128>>>(d_x, d_x_prev, d_grad, d_grad_prev, d_x_out, d_alpha, DIM);
    cudaDeviceSynchronize();

    float* h_x_out = new float[elements];
    cudaMemcpy(h_x_out, d_x_out, elements * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/x_out.bin", h_x_out, elements);
    float* h_alpha = new float[PROBLEMS];
    cudaMemcpy(h_alpha, d_alpha, PROBLEMS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/alpha.bin", h_alpha, PROBLEMS);

    cudaFree(d_x);
    cudaFree(d_x_prev);
    cudaFree(d_grad);
    cudaFree(d_grad_prev);
    cudaFree(d_x_out);
    cudaFree(d_alpha);
    delete[] h_x;
    delete[] h_x_prev;
    delete[] h_grad;
    delete[] h_grad_prev;
    delete[] h_x_out;
    delete[] h_alpha;
    return 0;
}
