#define ROWS 50
#define COLS 200

// An element wins if fewer than `winners` elements of its row are larger.
__global__ void keep_winners(const float* x, float* y, float* cutoff, int cols, int winners) {
    const float* row = x + (size_t)blockIdx.x * cols;
    float* out = y + (size_t)blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float v = row[c];
        int larger = 0;
        for (int j = 0; j < cols; ++j) {
            if (row[j] > v) ++larger;
        }
        out[c] = larger < winners ? v : 0.0f;
        if (larger == winners - 1) cutoff[blockIdx.x] = v;
    }
}

int main() {
    const size_t size = ROWS * COLS;

    float* h_x = new float[size];
    read_binary("data/x.bin", h_x, size);

    float *d_x, *d_y, *d_cutoff;
    cudaMalloc(&d_x, size * sizeof(float));
    cudaMemcpy(d_x, h_x, size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_y, size * sizeof(float));
    cudaMalloc(&d_cutoff, ROWS * sizeof(float));

    keep_winners<<<ROWS, 256>>>(d_x, d_y, d_cutoff, COLS, COLS / 8);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    float* h_y = new float[size];
    cudaMemcpy(h_y, d_y, size * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, size);
    float* h_cutoff = new float[ROWS];
    cudaMemcpy(h_cutoff, d_cutoff, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/cutoff.bin", h_cutoff, ROWS);

    cudaFree(d_x);
    cudaFree(d_y);
    cudaFree(d_cutoff);
    delete[] h_x;
    delete[] h_y;
    delete[] h_cutoff;
    return 0;
}
