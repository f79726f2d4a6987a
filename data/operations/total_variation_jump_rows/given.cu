constexpr int kRows = 40;
constexpr int kCols = 500;

__global__ void variation_kernel(const float* x, float* variation, float* jump, int* at, int cols) {
    __shared__ float sums[256];
    __shared__ float sizes[256];
    __shared__ int places[256];
    int tid = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    float largest = -1.0f;
    int place = cols;
    for (int c = tid; c < cols - 1; c += blockDim.x) {
        float d = fabsf(row[c + 1] - row[c]);
        sum += d;
        if (d > largest) {
            largest = d;
            place = c;
        }
    }
    sums[tid] = sum;
    sizes[tid] = largest;
    places[tid] = place;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) {
            int other = tid + s;
            sums[tid] += sums[other];
            bool equal = sizes[other] == sizes[tid];
            if (sizes[other] > sizes[tid] || (equal && places[other] < places[tid])) {
                sizes[tid] = sizes[other];
                places[tid] = places[other];
            }
        }
        __syncthreads();
    }
    if (tid == 0) {
        int c = places[0];
        variation[blockIdx.x] = sums[0];
        jump[blockIdx.x] = row[c + 1] - row[c];
        at[blockIdx.x] = c;
    }
}

int main() {
    const size_t n = (size_t)kRows * kCols;
    size_t bytes = kRows * sizeof(float);

    float* h_x = new float[n];
    read_binary("data/x.bin", h_x, n);

    float* d_x;
    cudaMalloc(&d_x, sizeof(float) * n);
    cudaMemcpy(d_x, h_x, sizeof(float) * n, cudaMemcpyHostToDevice);

    float* d_variation;
    float* d_jump;
    int* d_at;
    cudaMalloc(&d_variation, bytes);
    cudaMalloc(&d_jump, bytes);
    cudaMalloc(&d_at, sizeof(int) * kRows);

    variation_kernel<<<kRows, 256>>>(d_x, d_variation, d_jump, d_at, kCols);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    float* h_variation = new float[kRows];
    cudaMemcpy(h_variation, d_variation, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/variation.bin", h_variation, kRows);
    float* h_jump = new float[kRows];
    cudaMemcpy(h_jump, d_jump, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/jump.bin", h_jump, kRows);
    int* h_at = new int[kRows];
    cudaMemcpy(h_at, d_at, sizeof(int) * kRows, cudaMemcpyDeviceToHost);
    write_binary("data/at.bin", reinterpret_cast<float*>(h_at), kRows);

    cudaFree(d_x);
    cudaFree(d_variation);
    cudaFree(d_jump);
    cudaFree(d_at);

    delete[] h_x;
    delete[] h_variation;
    delete[] h_jump;
    delete[] h_at;
    return 0;
}
