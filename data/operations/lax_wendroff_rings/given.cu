constexpr int RINGS = 25;
constexpr int CELLS = 150;
constexpr int TOTAL = RINGS * CELLS;
constexpr int STEPS = 16;

__global__ void lax_wendroff(const float* u, const float* courant, float* next, int total, int cells) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= total) return;
    int ring = k / cells;
    int i = k % cells;
    const float* row = u + ring * cells;
    float left = row[(i + cells - 1) % cells];
    float right = row[(i + 1) % cells];
    float c = courant[ring];
    next[k] = row[i] - 0.5f * c * (right - left) + 0.5f * c * c * (right - 2.0f * row[i] + left);
}

int main() {
    const size_t buffer_bytes = TOTAL * sizeof(float);

    std::vector<float> h_density(TOTAL);
    read_binary("data/density.bin", h_density.data(), TOTAL);
    std::vector<float> h_courant(RINGS);
    read_binary("data/courant.bin", h_courant.data(), RINGS);

    float *d_density, *d_courant, *d_advected, *d_scratch;
    cudaMalloc(&d_density, buffer_bytes);
    cudaMemcpy(d_density, h_density.data(), buffer_bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_courant, sizeof(float) * RINGS);
    cudaMemcpy(d_courant, h_courant.data(), sizeof(float) * RINGS, cudaMemcpyHostToDevice);
    cudaMalloc(&d_advected, buffer_bytes);
    cudaMalloc(&d_scratch, buffer_bytes);

    const int block = 256;
    const int grid = (TOTAL + block - 1) / block;
    const float* from = d_density;
    for (int s = 0; s < STEPS; ++s) {
        float* to = s % 2 == 0 ? d_scratch : d_advected;
        lax_wendroff<<<grid, block>>>(from, d_courant, to, TOTAL, CELLS);
        from = to;
    }
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    std::vector<float> h_advected(TOTAL);
    cudaMemcpy(h_advected.data(), d_advected, buffer_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/advected.bin", h_advected.data(), TOTAL);

    cudaFree(d_density);
    cudaFree(d_courant);
    cudaFree(d_advected);
    cudaFree(d_scratch);
    return 0;
}
