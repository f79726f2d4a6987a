#define NY 80
#define NX 120

__global__ void project_u(const float* u, const float* pressure, float* u_new, int ny, int nx) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= ny || x > nx) return;
    int i = y * (nx + 1) + x;
    if (x == 0 || x == nx) u_new[i] = 0.0f;
    else u_new[i] = u[i] - 0.4f * (pressure[y * nx + x] - pressure[y * nx + x - 1]);
}

__global__ void project_v(const float* v, const float* pressure, float* v_new, int ny, int nx) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y > ny || x >= nx) return;
    int i = y * nx + x;
    if (y == 0 || y == ny) v_new[i] = 0.0f;
    else v_new[i] = v[i] - 0.4f * (pressure[i] - pressure[i - nx]);
}

int main() {
    const size_t elements = NY * (NX + 1);
    const size_t v_count = (NY + 1) * NX;
    const int pressure_size = NY * NX;

    float* h_u = new float[elements];
    read_binary("data/u.bin", h_u, elements);
    float* h_v = new float[v_count];
    read_binary("data/v.bin", h_v, v_count);
    float* h_pressure = new float[pressure_size];
    read_binary("data/pressure.bin", h_pressure, pressure_size);
    float* h_u_new = new float[elements];
    float* h_v_new = new float[v_count];

    float* d_u = nullptr;
    float* d_v = nullptr;
    float* d_pressure = nullptr;
    float* d_u_new = nullptr;
    float* d_v_new = nullptr;
    cudaMalloc(&d_u, elements * sizeof(float));
    cudaMalloc(&d_v, v_count * sizeof(float));
    cudaMalloc(&d_pressure, pressure_size * sizeof(float));
    cudaMalloc(&d_u_new, elements * sizeof(float));
    cudaMalloc(&d_v_new, v_count * sizeof(float));
    cudaMemcpy(d_u, h_u, elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, h_v, v_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_pressure, h_pressure, pressure_size * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(16, 16);
    dim3 grid((NX + 16) / 16, (NY + 16) / 16);
    project_u<<<grid, block>>>(d_u, d_pressure, d_u_new, NY, NX);
    project_v<<<grid, block>>>(d_v, d_pressure, d_v_new, NY, NX);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "GPU error" << std::endl;
        return 1;
    }

    cudaMemcpy(h_u_new, d_u_new, elements * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_v_new, d_v_new, v_count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/u_new.bin", h_u_new, elements);
    write_binary("data/v_new.bin", h_v_new, v_count);

    cudaFree(d_u);
    cudaFree(d_v);
    cudaFree(d_pressure);
    cudaFree(d_u_new);
    cudaFree(d_v_new);
    delete[] h_u;
    delete[] h_v;
    delete[] h_pressure;
    delete[] h_u_new;
    delete[] h_v_new;
    return 0;
}
