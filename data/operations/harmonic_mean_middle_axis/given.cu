#define BATCH 4
#define STEPS 50
#define FEATURES 120

__global__ void harmonic_kernel(const float* x, float* hmean, int total, int steps, int features) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    int b = i / features;
    int f = i % features;
    float sum = 0.0f;
    bool zero = false;
    for (int s = 0; s < steps; ++s) {
        float v = x[(b * steps + s) * features + f];
        if (v == 0.0f) {
            zero = true;
        } else {
            sum += 1.0f / v;
        }
    }
    hmean[i] = zero ? 0.0f : (float)steps / sum;
}

int main() {
    const size_t n_x = (size_t)BATCH * STEPS * FEATURES;
    const size_t n_hmean = (size_t)BATCH * FEATURES;

    float* h_x = new float[n_x];
    read_binary("data/x.bin", h_x, n_x);
    float* d_x;
    cudaMalloc((void**)&d_x, n_x * sizeof(float));
    cudaMemcpy(d_x, h_x, n_x * sizeof(float), cudaMemcpyHostToDevice);

    float* h_hmean = new float[n_hmean];
    float* d_hmean;
    cudaMalloc((void**)&d_hmean, n_hmean * sizeof(float));

    const int threadsPerBlock = 256;
    const int blocksPerGrid = (n_hmean + threadsPerBlock - 1) / threadsPerBlock;
    harmonic_kernel<<<blocksPerGrid, threadsPerBlock>>>(d_x, d_hmean, n_hmean, STEPS, FEATURES);

    cudaMemcpy(h_hmean, d_hmean, n_hmean * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/hmean.bin", h_hmean, n_hmean);

    cudaFree(d_x);
    cudaFree(d_hmean);
    delete[] h_x;
    delete[] h_hmean;
    return 0;
}
