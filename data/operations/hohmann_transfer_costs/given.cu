#define N 4000

__global__ void transfer_costs(const float* inner, const float* outer, float* burns, float* hours, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float mu = 398600.4418f;
        float r1 = inner[i];
        float r2 = outer[i];
        float v1 = sqrtf(mu / r1);
        float v2 = sqrtf(mu / r2);
        burns[2 * i] = v1 * (sqrtf(2.0f * r2 / (r1 + r2)) - 1.0f);
        burns[2 * i + 1] = v2 * (1.0f - sqrtf(2.0f * r1 / (r1 + r2)));
        float a = (r1 + r2) / 2.0f;
        hours[i] = 3.14159265f * sqrtf(a * a * a / mu) / 3600.0f;
    }
}

int main() {
    float* h_inner = new float[N];
    read_binary("data/inner.bin", h_inner, N);
    float* h_outer = new float[N];
    read_binary("data/outer.bin", h_outer, N);

    float* d_inner = nullptr;
    float* d_outer = nullptr;
    float* d_burns = nullptr;
    float* d_hours = nullptr;
    cudaMalloc(&d_inner, N * sizeof(float));
    cudaMemcpy(d_inner, h_inner, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_outer, N * sizeof(float));
    cudaMemcpy(d_outer, h_outer, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_burns, N * 2 * sizeof(float));
    cudaMalloc(&d_hours, N * sizeof(float));

    dim3 block(128);
    dim3 grid((N + block.x - 1) / block.x);
    transfer_costs<<<grid, block>>>(d_inner, d_outer, d_burns, d_hours, N);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    float* h_burns = new float[N * 2];
    float* h_hours = new float[N];
    cudaMemcpy(h_burns, d_burns, N * 2 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_hours, d_hours, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/burns.bin", h_burns, N * 2);
    write_binary("data/hours.bin", h_hours, N);

    cudaFree(d_inner);
    cudaFree(d_outer);
    cudaFree(d_burns);
    cudaFree(d_hours);
    delete[] h_inner;
    delete[] h_outer;
    delete[] h_burns;
    delete[] h_hours;
    return 0;
}
