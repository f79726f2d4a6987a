#define BATCH 2
#define CHANNELS 24
#define PIXELS 300

__global__ void normalize_response(const float* x, float* y, int n, int channels, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int c = i / pixels % channels;
    float sum = 0.0f;
    for (int j = max(c - 2, 0); j <= min(c + 2, channels - 1); ++j) {
        float v = x[i + (j - c) * pixels];
        sum += v * v;
    }
    y[i] = x[i] / powf(2.0f + 0.5f / 5.0f * sum, 0.75f);
}

int main() {
    const int size = BATCH * CHANNELS * PIXELS;

    float* h_x = new float[size];
    float* h_y = new float[size];

    read_binary("data/x.bin", h_x, size);

    float *d_x, *d_y;
    cudaMalloc(&d_x, size * sizeof(float));
    cudaMalloc(&d_y, size * sizeof(float));
    cudaMemcpy(d_x, h_x, size * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 256;
    const int blocks = (size + threads - 1) / threads;
    normalize_response<<<blocks, threads>>>(d_x, d_y, size, CHANNELS, PIXELS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "response kernel: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y, d_y, size * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, size);

    cudaFree(d_x);
    cudaFree(d_y);
    delete[] h_x;
    delete[] h_y;
    return 0;
}
