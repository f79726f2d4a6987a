#define ROWS 40
#define UNITS 150
#define HINGES 3

__global__ void piecewise_units(const float* x, const float* slope, const float* knot, float* y,
                                int rows, int units, int hinges) {
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (u < units && r < rows) {
        float v = x[r * units + u];
        float sum = fmaxf(v, 0.0f);
        for (int s = 0; s < hinges; ++s) {
            sum += slope[s * units + u] * fmaxf(knot[s * units + u] - v, 0.0f);
        }
        y[r * units + u] = sum;
    }
}

int main() {
    int num_x = ROWS * UNITS;
    int num_slope = HINGES * UNITS;
    float* h_x = new float[num_x];
    float* h_slope = new float[num_slope];
    float* h_knot = new float[num_slope];
    float* h_y = new float[num_x];

    read_binary("data/x.bin", h_x, num_x);
    read_binary("data/slope.bin", h_slope, num_slope);
    read_binary("data/knot.bin", h_knot, num_slope);

    float* d_x = nullptr;
    float* d_slope = nullptr;
    float* d_knot = nullptr;
    float* d_y = nullptr;
    cudaMalloc(&d_x, num_x * sizeof(float));
    cudaMalloc(&d_slope, num_slope * sizeof(float));
    cudaMalloc(&d_knot, num_slope * sizeof(float));
    cudaMalloc(&d_y, num_x * sizeof(float));
    cudaMemcpy(d_x, h_x, num_x * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_slope, h_slope, num_slope * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_knot, h_knot, num_slope * sizeof(float), cudaMemcpyHostToDevice);

    const dim3 block(32, 4);
    const dim3 grid((UNITS + 32 - 1) / 32, (ROWS + 4 - 1) / 4);
    piecewise_units<<<grid, block>>>(d_x, d_slope, d_knot, d_y, ROWS, UNITS, HINGES);

    cudaMemcpy(h_y, d_y, num_x * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, num_x);

    delete[] h_x;
    delete[] h_slope;
    delete[] h_knot;
    delete[] h_y;
    cudaFree(d_x);
    cudaFree(d_slope);
    cudaFree(d_knot);
    cudaFree(d_y);
    return 0;
}
