#define N 15000
#define BINS 10

__global__ void fill_bins(const float* confidence, const unsigned char* correct, const float* upper,
                          float* gap, int* count, int n) {
    __shared__ float block_gap[BINS];
    __shared__ int block_count[BINS];
    if (threadIdx.x < BINS) {
        block_gap[threadIdx.x] = 0.0f;
        block_count[threadIdx.x] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float c = confidence[i];
        int b = 0;
        while (b < BINS - 1 && c >= upper[b]) ++b;
        atomicAdd(&block_gap[b], c - (float)correct[i]);
        atomicAdd(&block_count[b], 1);
    }
    __syncthreads();
    if (threadIdx.x < BINS) {
        atomicAdd(&gap[threadIdx.x], block_gap[threadIdx.x]);
        atomicAdd(&count[threadIdx.x], block_count[threadIdx.x]);
    }
}

__global__ void sum_gaps(const float* gap, float* ece, int n) {
    float sum = 0.0f;
    for (int b = 0; b < BINS; ++b) sum += fabsf(gap[b]);
    ece[0] = sum / n;
}

int main() {
    std::vector<float> h_confidence(N);
    read_binary("data/confidence.bin", h_confidence.data(), N);
    std::vector<unsigned char> h_correct((N + 3) / 4 * 4);
    read_binary("data/correct.bin", reinterpret_cast<float*>(h_correct.data()), (N + 3) / 4);
    std::vector<float> h_upper(BINS);
    read_binary("data/upper.bin", h_upper.data(), BINS);
    std::vector<float> h_ece(1);
    std::vector<int> h_count(BINS);

    float *d_confidence, *d_upper, *d_ece, *d_gap;
    unsigned char* d_correct;
    int* d_count;
    cudaMalloc(&d_confidence, N * sizeof(float));
    cudaMemcpy(d_confidence, h_confidence.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_correct, N * sizeof(unsigned char));
    cudaMemcpy(d_correct, h_correct.data(), N * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMalloc(&d_upper, BINS * sizeof(float));
    cudaMemcpy(d_upper, h_upper.data(), BINS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_ece, sizeof(float));
    cudaMalloc(&d_count, BINS * sizeof(int));
    cudaMalloc(&d_gap, BINS * sizeof(float));

    cudaMemset(d_gap, 0, BINS * sizeof(float));
    cudaMemset(d_count, 0, BINS * sizeof(int));
    fill_bins<<<256, 256>>>(d_confidence, d_correct, d_upper, d_gap, d_count, N);
    sum_gaps<<<1, 1>>>(d_gap, d_ece, N);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_ece.data(), d_ece, sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_count.data(), d_count, BINS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/ece.bin", h_ece.data(), 1);
    write_binary("data/count.bin", reinterpret_cast<float*>(h_count.data()), BINS);

    cudaFree(d_confidence);
    cudaFree(d_correct);
    cudaFree(d_upper);
    cudaFree(d_ece);
    cudaFree(d_count);
    cudaFree(d_gap);
    return 0;
}
