const int ROWS = 60;
const int COLS = 200;

__global__ void multiply_q15(const int16_t* x, const int16_t* gain, int16_t* y, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    int product = (int)x[i] * (int)gain[i / cols];
    int rounded = (product + 16384) >> 15;
    rounded = max(-32768, min(32767, rounded));
    y[i] = (int16_t)rounded;
}

int main() {
    const int size = ROWS * COLS;
    const size_t x_floats = (size + 1) / 2;
    const size_t gain_floats = (ROWS + 1) / 2;

    int16_t* h_x = new int16_t[2 * x_floats];
    int16_t* h_gain = new int16_t[2 * gain_floats];
    int16_t* h_y = new int16_t[size];
    read_binary("data/x.bin", reinterpret_cast<float*>(h_x), x_floats);
    read_binary("data/gain.bin", reinterpret_cast<float*>(h_gain), gain_floats);

    int16_t *d_x, *d_gain, *d_y;
    cudaMalloc(&d_x, size * sizeof(int16_t));
    cudaMalloc(&d_gain, sizeof(int16_t) * ROWS);
    cudaMalloc(&d_y, size * sizeof(int16_t));
    cudaMemcpy(d_x, h_x, size * sizeof(int16_t), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gain, h_gain, sizeof(int16_t) * ROWS, cudaMemcpyHostToDevice);

    const int threads = 256;
    const int blocks = (size + threads - 1) / threads;
    multiply_q15<<<blocks, threads>>>(d_x, d_gain, d_y, ROWS, COLS);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y, d_y, size * sizeof(int16_t), cudaMemcpyDeviceToHost);
    std::ofstream out("data/y.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_y), size * sizeof(int16_t));

    cudaFree(d_x);
    cudaFree(d_gain);
    cudaFree(d_y);
    delete[] h_x;
    delete[] h_gain;
    delete[] h_y;
    return 0;
}
