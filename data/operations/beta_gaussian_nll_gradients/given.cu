const int ROWS = 64;
const int COLS = 250;
const int TOTAL = ROWS * COLS;

__global__ void beta_nll(const float* mean, const float* logvar, const float* target, float* dmean,
                         float* dlogvar, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float d = mean[i] - target[i];
    float lv = fminf(fmaxf(logvar[i], -8.0f), 8.0f);
    float v = expf(lv);
    float weight = sqrtf(v);
    dmean[i] = weight * d / v;
    dlogvar[i] = lv == logvar[i] ? weight * 0.5f * (1.0f - d * d / v) : 0.0f;
}

int main() {
    float* h_mean = new float[TOTAL];
    float* h_logvar = new float[TOTAL];
    float* h_target = new float[TOTAL];
    float* h_dmean = new float[TOTAL];
    float* h_dlogvar = new float[TOTAL];
    read_binary("data/mean.bin", h_mean, TOTAL);
    read_binary("data/logvar.bin", h_logvar, TOTAL);
    read_binary("data/target.bin", h_target, TOTAL);

    float *d_mean, *d_logvar, *d_target, *d_dmean, *d_dlogvar;
    cudaMalloc(&d_mean, sizeof(float) * TOTAL);
    cudaMalloc(&d_logvar, sizeof(float) * TOTAL);
    cudaMalloc(&d_target, sizeof(float) * TOTAL);
    cudaMalloc(&d_dmean, sizeof(float) * TOTAL);
    cudaMalloc(&d_dlogvar, sizeof(float) * TOTAL);

    cudaMemcpy(d_mean, h_mean, sizeof(float) * TOTAL, cudaMemcpyHostToDevice);
    cudaMemcpy(d_logvar, h_logvar, sizeof(float) * TOTAL, cudaMemcpyHostToDevice);
    cudaMemcpy(d_target, h_target, sizeof(float) * TOTAL, cudaMemcpyHostToDevice);

    dim3 block(512);
    dim3 grid((TOTAL + 512 - 1) / 512);
    beta_nll<<<grid, block>>>(d_mean, d_logvar, d_target, d_dmean, d_dlogvar, TOTAL);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(h_dmean, d_dmean, sizeof(float) * TOTAL, cudaMemcpyDeviceToHost);
    write_binary("data/dmean.bin", h_dmean, TOTAL);
    cudaMemcpy(h_dlogvar, d_dlogvar, sizeof(float) * TOTAL, cudaMemcpyDeviceToHost);
    write_binary("data/dlogvar.bin", h_dlogvar, TOTAL);
    cudaFree(d_mean);
    cudaFree(d_logvar);
    cudaFree(d_target);
    cudaFree(d_dmean);
    cudaFree(d_dlogvar);
    delete[] h_mean;
    delete[] h_logvar;
    delete[] h_target;
    delete[] h_dmean;
    delete[] h_dlogvar;
    return 0;
}
