constexpr int kCount = 1111;

__device__ float det3(float a, float b, float c, float d, float e, float f, float g, float h, float k) {
    return a * (e * k - f * h) - b * (d * k - f * g) + c * (d * h - e * g);
}

__global__ void det4(const float* a, float* det, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float* m = a + 16 * i;
    float sum = m[0] * det3(m[5], m[6], m[7], m[9], m[10], m[11], m[13], m[14], m[15]);
    sum -= m[1] * det3(m[4], m[6], m[7], m[8], m[10], m[11], m[12], m[14], m[15]);
    sum += m[2] * det3(m[4], m[5], m[7], m[8], m[9], m[11], m[12], m[13], m[15]);
    sum -= m[3] * det3(m[4], m[5], m[6], m[8], m[9], m[10], m[12], m[13], m[14]);
    det[i] = sum;
}

int main() {
    const int n = kCount * 4 * 4;

    float* h_a = new float[n];
    float* h_det = new float[kCount];
    read_binary("data/a.bin", h_a, n);

    float* d_a;
    float* d_det;
    cudaMalloc(&d_a, n * sizeof(float));
    cudaMalloc(&d_det, kCount * sizeof(float));

    cudaMemcpy(d_a, h_a, n * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 128;
    const int blocks = (kCount + threads - 1) / threads;
    det4<<<blocks, threads>>>(d_a, d_det, kCount);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_det, d_det, kCount * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/det.bin", h_det, kCount);

    cudaFree(d_a);
    cudaFree(d_det);
    delete[] h_a;
    delete[] h_det;
    return 0;
}
