const int PLANES = 4;
const int HEIGHT = 50;
const int WIDTH = 70;

__global__ void from_bottom(const float* vertical, float* corner, int planes, int height, int width) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= planes * width) return;
    size_t base = (size_t)(k / width) * height * width + k % width;
    float best = -FLT_MAX;
    for (int i = height - 1; i >= 0; --i) {
        best = fmaxf(best, vertical[base + (size_t)i * width]);
        corner[base + (size_t)i * width] = best;
    }
}

__global__ void from_right(const float* horizontal, float* corner, int planes, int height, int width) {
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= planes * height) return;
    size_t base = (size_t)line * width;
    float best = -FLT_MAX;
    for (int j = width - 1; j >= 0; --j) {
        best = fmaxf(best, horizontal[base + j]);
        corner[base + j] += best;
    }
}

int main() {
    size_t n = static_cast<size_t>(PLANES) * HEIGHT * WIDTH;
    float* h_vertical = new float[n];
    float* h_horizontal = new float[n];
    float* h_corner = new float[n];

    read_binary("data/vertical.bin", h_vertical, n);
    read_binary("data/horizontal.bin", h_horizontal, n);

    float *d_vertical, *d_horizontal, *d_corner;
    cudaMalloc(&d_vertical, n * sizeof(float));
    cudaMalloc(&d_horizontal, n * sizeof(float));
    cudaMalloc(&d_corner, n * sizeof(float));

    cudaMemcpy(d_vertical, h_vertical, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_horizontal, h_horizontal, n * sizeof(float), cudaMemcpyHostToDevice);

    const int block = 256;
    from_bottom<<<(PLANES * WIDTH + block - 1) / block, block>>>(d_vertical, d_corner, PLANES,
            HEIGHT, WIDTH);
    from_right<<<(PLANES * HEIGHT + block - 1) / block, block>>>(d_horizontal, d_corner, PLANES,
            HEIGHT, WIDTH);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "error in the kernel: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_corner, d_corner, n * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/corner.bin", h_corner, n);

    cudaFree(d_vertical);
    cudaFree(d_horizontal);
    cudaFree(d_corner);
    delete[] h_vertical;
    delete[] h_horizontal;
    delete[] h_corner;
    return 0;
}
