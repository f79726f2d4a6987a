const int FRAMES = 10;
const int POINTS = 800;

__global__ void hermite_kernel(const float* p0, const float* m0, const float* p1, const float* m1,
                               const float* t, float* path, int points) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int frame = blockIdx.y;
    if (i >= points) return;
    float s = t[frame];
    float s2 = s * s;
    float s3 = s2 * s;
    float value = (2.0f * s3 - 3.0f * s2 + 1.0f) * p0[i];
    value += (s3 - 2.0f * s2 + s) * m0[i];
    value += (3.0f * s2 - 2.0f * s3) * p1[i];
    value += (s3 - s2) * m1[i];
    path[frame * points + i] = value;
}

int main() {
    int n = FRAMES * POINTS;

    float* h_p0 = new float[POINTS];
    float* h_m0 = new float[POINTS];
    float* h_p1 = new float[POINTS];
    float* h_m1 = new float[POINTS];
    float* h_t = new float[FRAMES];
    float* h_path = new float[n];

    read_binary("data/p0.bin", h_p0, POINTS);
    read_binary("data/m0.bin", h_m0, POINTS);
    read_binary("data/p1.bin", h_p1, POINTS);
    read_binary("data/m1.bin", h_m1, POINTS);
    read_binary("data/t.bin", h_t, FRAMES);

    float* d_p0 = nullptr;
    float* d_m0 = nullptr;
    float* d_p1 = nullptr;
    float* d_m1 = nullptr;
    float* d_t = nullptr;
    float* d_path = nullptr;
    cudaMalloc(&d_p0, POINTS * sizeof(float));
    cudaMalloc(&d_m0, POINTS * sizeof(float));
    cudaMalloc(&d_p1, POINTS * sizeof(float));
    cudaMalloc(&d_m1, POINTS * sizeof(float));
    cudaMalloc(&d_t, FRAMES * sizeof(float));
    cudaMalloc(&d_path, n * sizeof(float));
    cudaMemcpy(d_p0, h_p0, POINTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_m0, h_m0, POINTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_p1, h_p1, POINTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_m1, h_m1, POINTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_t, h_t, FRAMES * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(256);
    dim3 grid((POINTS + block.x - 1) / block.x, FRAMES);
    hermite_kernel<<<grid, block>>>(d_p0, d_m0, d_p1, d_m1, d_t, d_path, POINTS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA failure: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_path, d_path, n * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/path.bin", h_path, n);

    cudaFree(d_p0);
    cudaFree(d_m0);
    cudaFree(d_p1);
    cudaFree(d_m1);
    cudaFree(d_t);
    cudaFree(d_path);
    delete[] h_p0;
    delete[] h_m0;
    delete[] h_p1;
    delete[] h_m1;
    delete[] h_t;
    delete[] h_path;
    return 0;
}
