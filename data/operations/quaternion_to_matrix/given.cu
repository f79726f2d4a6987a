#define N 3000

__global__ void rotation_matrices(const float* quaternions, float* matrices, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = quaternions[4 * i];
    float y = quaternions[4 * i + 1];
    float z = quaternions[4 * i + 2];
    float w = quaternions[4 * i + 3];
    float norm = x * x + y * y + z * z + w * w;
    float s = norm > 0.0f ? 2.0f / norm : 0.0f;
    float* m = matrices + 9 * i;
    m[0] = 1.0f - s * (y * y + z * z);
    m[1] = s * (x * y - z * w);
    m[2] = s * (x * z + y * w);
    m[3] = s * (x * y + z * w);
    m[4] = 1.0f - s * (x * x + z * z);
    m[5] = s * (y * z - x * w);
    m[6] = s * (x * z - y * w);
    m[7] = s * (y * z + x * w);
    m[8] = 1.0f - s * (x * x + y * y);
}

int main() {
    const int quaternions_total = N * 4;
    const size_t matrices_size = N * 9;

    float* h_quaternions = new float[quaternions_total];
    read_binary("data/quaternions.bin", h_quaternions, quaternions_total);

    float *d_quaternions, *d_matrices;
    cudaMalloc(&d_quaternions, quaternions_total * sizeof(float));
    cudaMalloc(&d_matrices, matrices_size * sizeof(float));
    cudaMemcpy(d_quaternions, h_quaternions, quaternions_total * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(128);
    dim3 grid((N + 127) / 128);
    rotation_matrices<<<grid, block>>>(d_quaternions, d_matrices, N);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "quaternion kernel: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    float* h_matrices = new float[matrices_size];
    cudaMemcpy(h_matrices, d_matrices, matrices_size * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/matrices.bin", h_matrices, matrices_size);

    cudaFree(d_quaternions);
    delete[] h_quaternions;
    cudaFree(d_matrices);
    delete[] h_matrices;
    return 0;
}
