const int kSamples = 500;
const int kOutputs = 40;
const int kSize = kSamples * kOutputs;

__global__ void r_squared(const float* pred, const float* truth, float* r2, int samples, int outputs) {
    __shared__ float a[256], b[256];
    int j = blockIdx.x, t = threadIdx.x;
    a[t] = 0.0f;
    for (int i = t; i < samples; i += 256) a[t] += truth[i * outputs + j];
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) a[t] += a[t + s];
        __syncthreads();
    }
    float mean = a[0] / samples;
    __syncthreads();
    a[t] = b[t] = 0.0f;
    for (int i = t; i < samples; i += 256) {
        float y = truth[i * outputs + j];
        float e = y - pred[i * outputs + j];
        a[t] += e * e;
        b[t] += (y - mean) * (y - mean);
    }
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) {
            a[t] += a[t + s];
            b[t] += b[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        if (b[0] > 0.0f) r2[j] = 1.0f - a[0] / b[0];
        else r2[j] = a[0] == 0.0f ? 1.0f : 0.0f;
    }
}

int main() {
    float* h_pred = new float[kSize];
    read_binary("data/pred.bin", h_pred, kSize);
    float* h_truth = new float[kSize];
    read_binary("data/truth.bin", h_truth, kSize);

    float* d_pred;
    cudaMalloc(&d_pred, sizeof(float) * kSize);
    float* d_truth;
    cudaMalloc(&d_truth, sizeof(float) * kSize);
    float* d_r2;
    cudaMalloc(&d_r2, sizeof(float) * kOutputs);
    cudaMemcpy(d_pred, h_pred, sizeof(float) * kSize, cudaMemcpyHostToDevice);
    cudaMemcpy(d_truth, h_truth, sizeof(float) * kSize, cudaMemcpyHostToDevice);

    const int blocks = kOutputs;
    r_squared<<<blocks, 256>>>(d_pred, d_truth, d_r2, kSamples, kOutputs);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "error in the kernel\n";
        return 1;
    }

    float* h_r2 = new float[kOutputs];
    cudaMemcpy(h_r2, d_r2, sizeof(float) * kOutputs, cudaMemcpyDeviceToHost);
    write_binary("data/r2.bin", h_r2, kOutputs);
    cudaFree(d_pred);
    cudaFree(d_truth);
    cudaFree(d_r2);
    delete[] h_pred;
    delete[] h_truth;
    delete[] h_r2;
    return 0;
}
