#define SOURCES 500
#define LINES 40

__global__ void doppler(const float* beta, const float* cosine, const float* wavelength, float* observed,
                        float* redshift, int sources, int lines) {
    int l = blockIdx.x * blockDim.x + threadIdx.x;
    int s = blockIdx.y * blockDim.y + threadIdx.y;
    if (s >= sources || l >= lines) return;
    float b = beta[s];
    float factor = (1.0f + b * cosine[s]) / sqrtf(1.0f - b * b);
    observed[s * lines + l] = factor * wavelength[l];
    if (l == 0) redshift[s] = factor - 1.0f;
}

int main() {
    std::vector<float> h_beta(SOURCES);
    read_binary("data/beta.bin", h_beta.data(), SOURCES);
    float* d_beta = nullptr;
    cudaMalloc(&d_beta, sizeof(float) * SOURCES);
    cudaMemcpy(d_beta, h_beta.data(), sizeof(float) * SOURCES, cudaMemcpyHostToDevice);

    std::vector<float> h_cosine(SOURCES);
    read_binary("data/cosine.bin", h_cosine.data(), SOURCES);
    float* d_cosine = nullptr;
    cudaMalloc(&d_cosine, sizeof(float) * SOURCES);
    cudaMemcpy(d_cosine, h_cosine.data(), sizeof(float) * SOURCES, cudaMemcpyHostToDevice);

    std::vector<float> h_wavelength(LINES);
    read_binary("data/wavelength.bin", h_wavelength.data(), LINES);
    float* d_wavelength = nullptr;
    cudaMalloc(&d_wavelength, sizeof(float) * LINES);
    cudaMemcpy(d_wavelength, h_wavelength.data(), sizeof(float) * LINES, cudaMemcpyHostToDevice);

    std::vector<float> h_observed(SOURCES * LINES);
    float* d_observed = nullptr;
    cudaMalloc(&d_observed, sizeof(float) * SOURCES * LINES);
    std::vector<float> h_redshift(SOURCES);
    float* d_redshift = nullptr;
    cudaMalloc(&d_redshift, sizeof(float) * SOURCES);

    dim3 threads(32, 8);
    dim3 blocks((LINES + 31) / 32, (SOURCES + 7) / 8);
    doppler<<<blocks, threads>>>(d_beta, d_cosine, d_wavelength, d_observed, d_redshift, SOURCES, LINES);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_observed.data(), d_observed, sizeof(float) * SOURCES * LINES, cudaMemcpyDeviceToHost);
    write_binary("data/observed.bin", h_observed.data(), SOURCES * LINES);
    cudaMemcpy(h_redshift.data(), d_redshift, sizeof(float) * SOURCES, cudaMemcpyDeviceToHost);
    write_binary("data/redshift.bin", h_redshift.data(), SOURCES);

    cudaFree(d_redshift);
    cudaFree(d_observed);
    cudaFree(d_wavelength);
    cudaFree(d_cosine);
    cudaFree(d_beta);
    return 0;
}
