constexpr int ROWS = 64;
constexpr int UNITS = 70;
constexpr int PIECES = 3;

__global__ void maxout_kernel(const float* z, float* best, int* piece, int total, int pieces) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    float top = z[i * pieces];
    int index = 0;
    for (int p = 1; p < pieces; ++p) {
        float v = z[i * pieces + p];
        if (v > top) {
            top = v;
            index = p;
        }
    }
    best[i] = top;
    piece[i] = index;
}

int main() {
    size_t n_z = (size_t)ROWS * UNITS * PIECES;
    size_t n_best = (size_t)ROWS * UNITS;

    float* d_z;
    cudaMalloc(&d_z, sizeof(float) * n_z);
    float* d_best;
    cudaMalloc(&d_best, sizeof(float) * n_best);
    int* d_piece;
    cudaMalloc(&d_piece, sizeof(int) * n_best);

    float* h_z = new float[n_z];
    read_binary("data/z.bin", h_z, n_z);
    cudaMemcpy(d_z, h_z, sizeof(float) * n_z, cudaMemcpyHostToDevice);

    int threadsPerBlock = 256;
    int blocksPerGrid = (n_best + threadsPerBlock - 1) / threadsPerBlock;
    maxout_kernel<<<blocksPerGrid, threadsPerBlock>>>(d_z, d_best, d_piece, n_best, PIECES);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "CUDA failure: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    float* h_best = new float[n_best];
    int* h_piece = new int[n_best];
    cudaMemcpy(h_best, d_best, sizeof(float) * n_best, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_piece, d_piece, sizeof(int) * n_best, cudaMemcpyDeviceToHost);
    write_binary("data/best.bin", h_best, n_best);
    write_binary("data/piece.bin", reinterpret_cast<float*>(h_piece), n_best);

    cudaFree(d_z);
    cudaFree(d_best);
    cudaFree(d_piece);

    delete[] h_z;
    delete[] h_best;
    delete[] h_piece;
    return 0;
}
