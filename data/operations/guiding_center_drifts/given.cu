const int PARTICLES = 1000;

__global__ void drift_kernel(const float* electric, const float* magnetic, const float* velocity,
                             const float* charge_mass, float* drift, float* radius, int particles) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles) return;
    const float* e = electric + 3 * i;
    const float* b = magnetic + 3 * i;
    float b2 = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
    float d[3];
    d[0] = (e[1] * b[2] - e[2] * b[1]) / b2;
    d[1] = (e[2] * b[0] - e[0] * b[2]) / b2;
    d[2] = (e[0] * b[1] - e[1] * b[0]) / b2;
    float w[3];
    float along = 0.0f;
    for (int c = 0; c < 3; c++) {
        drift[3 * i + c] = d[c];
        w[c] = velocity[3 * i + c] - d[c];
        along += w[c] * b[c] / b2;
    }
    float square = 0.0f;
    for (int c = 0; c < 3; c++) {
        float across = w[c] - along * b[c];
        square += across * across;
    }
    radius[i] = sqrtf(square) / (fabsf(charge_mass[i]) * sqrtf(b2));
}

int main() {
    const size_t cells = PARTICLES * 3;

    std::vector<float> h_electric(cells);
    std::vector<float> h_magnetic(cells);
    std::vector<float> h_velocity(cells);
    std::vector<float> h_charge_mass(PARTICLES);
    read_binary("data/electric.bin", h_electric.data(), cells);
    read_binary("data/magnetic.bin", h_magnetic.data(), cells);
    read_binary("data/velocity.bin", h_velocity.data(), cells);
    read_binary("data/charge_mass.bin", h_charge_mass.data(), PARTICLES);

    float* d_electric;
    float* d_magnetic;
    float* d_velocity;
    float* d_charge_mass;
    float* d_drift;
    float* d_radius;
    cudaMalloc(&d_electric, cells * sizeof(float));
    cudaMalloc(&d_magnetic, cells * sizeof(float));
    cudaMalloc(&d_velocity, cells * sizeof(float));
    cudaMalloc(&d_charge_mass, PARTICLES * sizeof(float));
    cudaMalloc(&d_drift, cells * sizeof(float));
    cudaMalloc(&d_radius, PARTICLES * sizeof(float));
    cudaMemcpy(d_electric, h_electric.data(), cells * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_magnetic, h_magnetic.data(), cells * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_velocity, h_velocity.data(), cells * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_charge_mass, h_charge_mass.data(), PARTICLES * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(256);
    dim3 grid((PARTICLES + 255) / 256);
    drift_kernel<<<grid, block>>>(d_electric, d_magnetic, d_velocity, d_charge_mass, d_drift, d_radius, PARTICLES);
    cudaDeviceSynchronize();

    std::vector<float> h_drift(cells);
    cudaMemcpy(h_drift.data(), d_drift, cells * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/drift.bin", h_drift.data(), cells);
    std::vector<float> h_radius(PARTICLES);
    cudaMemcpy(h_radius.data(), d_radius, PARTICLES * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/radius.bin", h_radius.data(), PARTICLES);

    cudaFree(d_electric);
    cudaFree(d_magnetic);
    cudaFree(d_velocity);
    cudaFree(d_charge_mass);
    cudaFree(d_drift);
    cudaFree(d_radius);
    return 0;
}
