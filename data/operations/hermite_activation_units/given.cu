const int ROWS = 40;
const int UNITS = 250;

__global__ void hermite_activation(const float* x, const float* coef, float* y, int rows, int units) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * units) return;
    int u = i % units;
    float t = x[i];
    float he0 = 1.0f;
    float he1 = t;
    float he2 = t * he1 - he0;
    float he3 = t * he2 - 2.0f * he1;
    float he4 = t * he3 - 3.0f * he2;
    y[i] = coef[u] * he0 + coef[units + u] * he1 + coef[2 * units + u] * he2
         + coef[3 * units + u] * he3 + coef[4 * units + u] * he4;
}

int main() {
    const int total = ROWS * UNITS;
    const size_t coef_total = 5 * UNITS;
    float* h_x = new float[total];
    float* h_coef = new float[coef_total];
    float* h_y = new float[total];
    read_binary("data/x.bin", h_x, total);
    read_binary("data/coef.bin", h_coef, coef_total);

    float* d_x;
    cudaMalloc(&d_x, total * sizeof(float));
    cudaMemcpy(d_x, h_x, total * sizeof(float), cudaMemcpyHostToDevice);
    float* d_coef;
    cudaMalloc(&d_coef, coef_total * sizeof(float));
    cudaMemcpy(d_coef, h_coef, coef_total * sizeof(float), cudaMemcpyHostToDevice);
    float* d_y;
    cudaMalloc(&d_y, total * sizeof(float));

    const int threads = 256;
    hermite_activation<<<(total + threads - 1) / threads, threads>>>(d_x, d_coef, d_y, ROWS, UNITS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y, d_y, total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, total);

    cudaFree(d_x);
    cudaFree(d_coef);
    cudaFree(d_y);
    delete[] h_x;
    delete[] h_coef;
    delete[] h_y;
    return 0;
}
