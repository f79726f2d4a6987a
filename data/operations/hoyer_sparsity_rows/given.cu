#define ROWS 64
#define COLS 500

__global__ void hoyer_kernel(const float* x, float* sparsity, int* zeros, int cols) {
    __shared__ float abs_sum[256];
    __shared__ float sq_sum[256];
    __shared__ int zero_sum[256];
    int tid = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float a = 0.0f;
    float q = 0.0f;
    int z = 0;
    for (int c = tid; c < cols; c += blockDim.x) {
        float v = row[c];
        a += fabsf(v);
        q += v * v;
        if (v == 0.0f) ++z;
    }
    abs_sum[tid] = a;
    sq_sum[tid] = q;
    zero_sum[tid] = z;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) {
            abs_sum[tid] += abs_sum[tid + stride];
            sq_sum[tid] += sq_sum[tid + stride];
            zero_sum[tid] += zero_sum[tid + stride];
        }
        __syncthreads();
    }
    if (tid == 0) {
        float root = sqrtf((float)cols);
        float result = 1.0f;
        if (sq_sum[0] > 0.0f) result = (root - abs_sum[0] / sqrtf(sq_sum[0])) / (root - 1.0f);
        sparsity[blockIdx.x] = result;
        zeros[blockIdx.x] = zero_sum[0];
    }
}

int main() {
    const size_t total = (size_t)ROWS * COLS;

    std::vector<float> h_x(total);
    read_binary("data/x.bin", h_x.data(), total);
    std::vector<float> h_sparsity(ROWS);
    std::vector<int> h_zeros(ROWS);

    float* d_x = nullptr;
    float* d_sparsity = nullptr;
    int* d_zeros = nullptr;
    cudaMalloc(&d_x, total * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_sparsity, ROWS * sizeof(float));
    cudaMalloc(&d_zeros, ROWS * sizeof(int));

    hoyer_kernel<<<ROWS, 256>>>(d_x, d_sparsity, d_zeros, COLS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_sparsity.data(), d_sparsity, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_zeros.data(), d_zeros, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/sparsity.bin", h_sparsity.data(), ROWS);
    write_binary("data/zeros.bin", reinterpret_cast<float*>(h_zeros.data()), ROWS);

    cudaFree(d_x);
    cudaFree(d_sparsity);
    cudaFree(d_zeros);
    return 0;
}
