#define ROWS 40
#define COLS 300
constexpr int NUMEL = ROWS * COLS;

__global__ void round_mantissa(const float* x, float* rounded, float* error, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned int bits = __float_as_uint(x[i]);
        unsigned int lowest_kept = (bits >> 13) & 1u;
        bits += 0xfffu + lowest_kept;
        bits &= 0xffffe000u;
        float r = __uint_as_float(bits);
        rounded[i] = r;
        error[i] = x[i] - r;
    }
}

int main() {
    float* h_x = new float[NUMEL];
    read_binary("data/x.bin", h_x, NUMEL);

    float* d_x = nullptr;
    cudaMalloc(&d_x, NUMEL * sizeof(float));
    float* d_rounded = nullptr;
    cudaMalloc(&d_rounded, NUMEL * sizeof(float));
    float* d_error = nullptr;
    cudaMalloc(&d_error, NUMEL * sizeof(float));

    cudaMemcpy(d_x, h_x, NUMEL * sizeof(float), cudaMemcpyHostToDevice);

    const int threadsPerBlock = 256;
    const int numBlocks = (NUMEL + threadsPerBlock - 1) / threadsPerBlock;
    round_mantissa<<<numBlocks, threadsPerBlock>>>(d_x, d_rounded, d_error, NUMEL);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(error) << "\n";
        return 1;
    }

    float* h_rounded = new float[NUMEL];
    float* h_error = new float[NUMEL];
    cudaMemcpy(h_rounded, d_rounded, NUMEL * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_error, d_error, NUMEL * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/rounded.bin", h_rounded, NUMEL);
    write_binary("data/error.bin", h_error, NUMEL);

    cudaFree(d_x);
    cudaFree(d_rounded);
    cudaFree(d_error);
    delete[] h_x;
    delete[] h_rounded;
    delete[] h_error;
    return 0;
}
