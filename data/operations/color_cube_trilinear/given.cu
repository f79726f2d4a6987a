constexpr int kPixels = 6000;
constexpr int kSide = 9;

__global__ void apply_cube(const float* rgb, const float* cube, float* mapped, int pixels, int side) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pixels) return;
    int node[3];
    float frac[3];
    for (int a = 0; a < 3; ++a) {
        float v = fminf(fmaxf(rgb[3 * p + a], 0.0f), 1.0f) * (side - 1);
        node[a] = min((int)v, side - 2);
        frac[a] = v - node[a];
    }
    float out[3] = {0.0f, 0.0f, 0.0f};
    for (int k = 0; k < 8; ++k) {
        int r = k >> 2, g = k >> 1 & 1, b = k & 1;
        float w = (r ? frac[0] : 1.0f - frac[0]) * (g ? frac[1] : 1.0f - frac[1]) * (b ? frac[2] : 1.0f - frac[2]);
        int cell = ((node[0] + r) * side + node[1] + g) * side + node[2] + b;
        for (int c = 0; c < 3; ++c) out[c] += w * cube[3 * cell + c];
    }
    for (int c = 0; c < 3; ++c) mapped[3 * p + c] = out[c];
}

int main() {
    const int n_rgb = kPixels * 3;
    const int n_cube = kSide * kSide * kSide * 3;

    float* h_rgb = new float[n_rgb];
    read_binary("data/rgb.bin", h_rgb, n_rgb);
    float* h_cube = new float[n_cube];
    read_binary("data/cube.bin", h_cube, n_cube);
    float* h_mapped = new float[n_rgb];

    float* d_rgb;
    cudaMalloc(&d_rgb, n_rgb * sizeof(float));
    float* d_cube;
    cudaMalloc(&d_cube, n_cube * sizeof(float));
    float* d_mapped;
    cudaMalloc(&d_mapped, n_rgb * sizeof(float));

    cudaMemcpy(d_rgb, h_rgb, n_rgb * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_cube, h_cube, n_cube * sizeof(float), cudaMemcpyHostToDevice);

    int threadsPerBlock = 128;
    int numBlocks = (kPixels + threadsPerBlock - 1) / threadsPerBlock;
    apply_cube<<<numBlocks, threadsPerBlock>>>(d_rgb, d_cube, d_mapped, kPixels, kSide);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "error in the kernel: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_mapped, d_mapped, n_rgb * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/mapped.bin", h_mapped, n_rgb);

    cudaFree(d_rgb);
    cudaFree(d_cube);
    cudaFree(d_mapped);
    delete[] h_rgb;
    delete[] h_cube;
    delete[] h_mapped;
    return 0;
}
