#define ROWS 50
#define COLS 240
const int COUNT = ROWS * COLS;

__global__ void smoother(const float* x, const float* low, const float* high, float* s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float t = (x[i] - low[i]) / (high[i] - low[i]);
        t = fminf(fmaxf(t, 0.0f), 1.0f);
        s[i] = t * t * t * (t * (6.0f * t - 15.0f) + 10.0f);
    }
}

int main() {
    float* h_x = new float[COUNT];
    read_binary("data/x.bin", h_x, COUNT);
    float* h_low = new float[COUNT];
    read_binary("data/low.bin", h_low, COUNT);
    float* h_high = new float[COUNT];
    read_binary("data/high.bin", h_high, COUNT);
    float* h_s = new float[COUNT];

    float* d_x = nullptr;
    cudaMalloc(&d_x, COUNT * sizeof(float));
    float* d_low = nullptr;
    cudaMalloc(&d_low, COUNT * sizeof(float));
    float* d_high = nullptr;
    cudaMalloc(&d_high, COUNT * sizeof(float));
    float* d_s = nullptr;
    cudaMalloc(&d_s, COUNT * sizeof(float));
    cudaMemcpy(d_x, h_x, COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_low, h_low, COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_high, h_high, COUNT * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(128);
    dim3 grid((COUNT + block.x - 1) / block.x);
    smoother<<<grid, block>>>(d_x, d_low, d_high, d_s, COUNT);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "error in the kernel: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(h_s, d_s, COUNT * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/s.bin", h_s, COUNT);

    cudaFree(d_x);
    cudaFree(d_low);
    cudaFree(d_high);
    cudaFree(d_s);
    delete[] h_x;
    delete[] h_low;
    delete[] h_high;
    delete[] h_s;
    return 0;
}
