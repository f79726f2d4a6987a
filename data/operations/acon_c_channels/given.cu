const int kBatch = 2;
const int kChannels = 10;
const int kPlane = 1000;
constexpr int kSize = kBatch * kChannels * kPlane;

__global__ void acon_c(const float* x, const float* p1, const float* p2, const float* beta, float* y,
                       int n, int channels, int plane) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int c = (i / plane) % channels;
        float v = x[i];
        float d = (p1[c] - p2[c]) * v;
        y[i] = d / (1.0f + expf(-beta[c] * d)) + p2[c] * v;
    }
}

int main() {
    float* h_x = new float[kSize];
    read_binary("data/x.bin", h_x, kSize);
    float* h_p1 = new float[kChannels];
    read_binary("data/p1.bin", h_p1, kChannels);
    float* h_p2 = new float[kChannels];
    read_binary("data/p2.bin", h_p2, kChannels);
    float* h_beta = new float[kChannels];
    read_binary("data/beta.bin", h_beta, kChannels);
    float* h_y = new float[kSize];

    float* d_x;
    cudaMalloc((void**)&d_x, sizeof(float) * kSize);
    float* d_p1;
    cudaMalloc((void**)&d_p1, sizeof(float) * kChannels);
    float* d_p2;
    cudaMalloc((void**)&d_p2, sizeof(float) * kChannels);
    float* d_beta;
    cudaMalloc((void**)&d_beta, sizeof(float) * kChannels);
    float* d_y;
    cudaMalloc((void**)&d_y, sizeof(float) * kSize);

    cudaMemcpy(d_x, h_x, sizeof(float) * kSize, cudaMemcpyHostToDevice);
    cudaMemcpy(d_p1, h_p1, sizeof(float) * kChannels, cudaMemcpyHostToDevice);
    cudaMemcpy(d_p2, h_p2, sizeof(float) * kChannels, cudaMemcpyHostToDevice);
    cudaMemcpy(d_beta, h_beta, sizeof(float) * kChannels, cudaMemcpyHostToDevice);

    int threadsPerBlock = 256;
    int numBlocks = (kSize + threadsPerBlock - 1) / threadsPerBlock;
    acon_c<<<numBlocks, threadsPerBlock>>>(d_x, d_p1, d_p2, d_beta, d_y, kSize, kChannels, kPlane);

    cudaMemcpy(h_y, d_y, sizeof(float) * kSize, cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, kSize);

    cudaFree(d_x);
    cudaFree(d_p1);
    cudaFree(d_p2);
    cudaFree(d_beta);
    cudaFree(d_y);
    delete[] h_x;
    delete[] h_p1;
    delete[] h_p2;
    delete[] h_beta;
    delete[] h_y;
    return 0;
}
