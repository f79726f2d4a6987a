const int N = 2000;

__global__ void rotation_vectors(const float* matrices, float* vectors, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float* r = matrices + 9 * i;
    float wx = (r[7] - r[5]) / 2.0f;
    float wy = (r[2] - r[6]) / 2.0f;
    float wz = (r[3] - r[1]) / 2.0f;
    float sine = sqrtf(wx * wx + wy * wy + wz * wz);
    float cosine = (r[0] + r[4] + r[8] - 1.0f) / 2.0f;
    float scale = sine < 1e-5f ? 1.0f : atan2f(sine, cosine) / sine;
    vectors[3 * i] = wx * scale;
    vectors[3 * i + 1] = wy * scale;
    vectors[3 * i + 2] = wz * scale;
}

int main() {
    const size_t matrices_count = (size_t)N * 3 * 3;
    const size_t vectors_count = (size_t)N * 3;

    float* d_matrices;
    cudaMalloc(&d_matrices, matrices_count * sizeof(float));
    float* d_vectors;
    cudaMalloc(&d_vectors, vectors_count * sizeof(float));

    float* h_matrices = new float[matrices_count];
    read_binary("data/matrices.bin", h_matrices, matrices_count);
    cudaMemcpy(d_matrices, h_matrices, matrices_count * sizeof(float), cudaMemcpyHostToDevice);

    const int num_threads = 256;
    const int num_blocks = (N + num_threads - 1) / num_threads;
    rotation_vectors<<<num_blocks, num_threads>>>(d_matrices, d_vectors, N);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(error) << '\n';
        return 1;
    }

    float* h_vectors = new float[vectors_count];
    cudaMemcpy(h_vectors, d_vectors, vectors_count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/vectors.bin", h_vectors, vectors_count);

    cudaFree(d_matrices);
    cudaFree(d_vectors);
    delete[] h_matrices;
    delete[] h_vectors;
    return 0;
}
