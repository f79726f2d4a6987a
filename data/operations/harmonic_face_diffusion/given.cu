constexpr int kNy = 100;
constexpr int kNx = 150;

__device__ float face(float kc, float kn, float uc, float un) {
    return 2.0f * kn * kc / (kn + kc) * (un - uc);
}

__global__ void diffusion(const float* field, const float* conductivity, float* flux_sum, int ny, int nx) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    int i = y * nx + x;
    float sum = 0.0f;
    if (x > 0) sum += face(conductivity[i], conductivity[i - 1], field[i], field[i - 1]);
    if (x < nx - 1) sum += face(conductivity[i], conductivity[i + 1], field[i], field[i + 1]);
    if (y > 0) sum += face(conductivity[i], conductivity[i - nx], field[i], field[i - nx]);
    if (y < ny - 1) sum += face(conductivity[i], conductivity[i + nx], field[i], field[i + nx]);
    flux_sum[i] = sum;
}

int main() {
    std::vector<float> h_field(kNy * kNx);
    std::vector<float> h_conductivity(kNy * kNx);
    read_binary("data/field.bin", h_field.data(), kNy * kNx);
    read_binary("data/conductivity.bin", h_conductivity.data(), kNy * kNx);

    float *d_field, *d_conductivity, *d_flux_sum;
    cudaMalloc(&d_field, kNy * kNx * sizeof(float));
    cudaMemcpy(d_field, h_field.data(), kNy * kNx * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_conductivity, kNy * kNx * sizeof(float));
    cudaMemcpy(d_conductivity, h_conductivity.data(), kNy * kNx * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_flux_sum, kNy * kNx * sizeof(float));

    const dim3 block(32, 4);
    const dim3 grid((kNx + 32 - 1) / 32, (kNy + 4 - 1) / 4);
    diffusion<<<grid, block>>>(d_field, d_conductivity, d_flux_sum, kNy, kNx);
    cudaDeviceSynchronize();

    std::vector<float> h_flux_sum(kNy * kNx);
    cudaMemcpy(h_flux_sum.data(), d_flux_sum, kNy * kNx * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/flux_sum.bin", h_flux_sum.data(), kNy * kNx);

    cudaFree(d_field);
    cudaFree(d_conductivity);
    cudaFree(d_flux_sum);
    return 0;
}
