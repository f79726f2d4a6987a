const int ROWS = 40;
const int COLS = 300;

__global__ void affine_prefix(const uint32_t* a, const uint32_t* b, uint32_t* pa, uint32_t* pb, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    uint32_t factor = 1u;
    uint32_t offset = 0u;
    for (int c = 0; c < cols; ++c) {
        int i = r * cols + c;
        factor = a[i] * factor;
        offset = a[i] * offset + b[i];
        pa[i] = factor;
        pb[i] = offset;
    }
}

int main() {
    int numel = ROWS * COLS;

    uint32_t* h_a = new uint32_t[numel];
    read_binary("data/a.bin", (float*)h_a, numel);
    uint32_t* d_a = nullptr;
    cudaMalloc(&d_a, sizeof(uint32_t) * numel);
    cudaMemcpy(d_a, h_a, sizeof(uint32_t) * numel, cudaMemcpyHostToDevice);

    uint32_t* h_b = new uint32_t[numel];
    read_binary("data/b.bin", (float*)h_b, numel);
    uint32_t* d_b = nullptr;
    cudaMalloc(&d_b, sizeof(uint32_t) * numel);
    cudaMemcpy(d_b, h_b, sizeof(uint32_t) * numel, cudaMemcpyHostToDevice);

    uint32_t* h_pa = new uint32_t[numel];
    uint32_t* d_pa = nullptr;
    cudaMalloc(&d_pa, sizeof(uint32_t) * numel);
    uint32_t* h_pb = new uint32_t[numel];
    uint32_t* d_pb = nullptr;
    cudaMalloc(&d_pb, sizeof(uint32_t) * numel);

    affine_prefix<<<(ROWS + 127) / 128, 128>>>(d_a, d_b, d_pa, d_pb, ROWS, COLS);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << '\n';
        return 1;
    }

    cudaMemcpy(h_pa, d_pa, sizeof(uint32_t) * numel, cudaMemcpyDeviceToHost);
    write_binary("data/pa.bin", (float*)h_pa, numel);
    cudaMemcpy(h_pb, d_pb, sizeof(uint32_t) * numel, cudaMemcpyDeviceToHost);
    write_binary("data/pb.bin", (float*)h_pb, numel);

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_pa);
    cudaFree(d_pb);
    delete[] h_a;
    delete[] h_b;
    delete[] h_pa;
    delete[] h_pb;
    return 0;
}
