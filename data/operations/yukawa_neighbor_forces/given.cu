constexpr int SIDE = 9;
constexpr int SLOTS = 12;
constexpr int N = SIDE * SIDE * SIDE;

__device__ float nearest(float d) {
    if (d > 0.5f * SIDE) return d - SIDE;
    if (d < -0.5f * SIDE) return d + SIDE;
    return d;
}

__global__ void yukawa(const float* position, const float* charge, const int* neighbor, float* force,
                       float* potential, int n, int slots) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = position[3 * i], y = position[3 * i + 1], z = position[3 * i + 2];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f, sum = 0.0f;
    for (int k = 0; k < slots; ++k) {
        int j = neighbor[i * slots + k];
        if (j < 0) continue;
        float dx = nearest(x - position[3 * j]);
        float dy = nearest(y - position[3 * j + 1]);
        float dz = nearest(z - position[3 * j + 2]);
        float r = sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        float e = charge[i] * charge[j] * expf(-r) / r;
        float f = e * (1.0f + r) / (r * r);
        sum += e;
        fx += f * dx;
        fy += f * dy;
        fz += f * dz;
    }
    potential[i] = sum;
    force[3 * i] = fx;
    force[3 * i + 1] = fy;
    force[3 * i + 2] = fz;
}

int main() {
    const int elements = N * 3;
    const size_t neighbor_total = N * SLOTS;
    float* h_position = new float[elements];
    read_binary("data/position.bin", h_position, elements);
    float* h_charge = new float[N];
    read_binary("data/charge.bin", h_charge, N);
    int* h_neighbor = new int[neighbor_total];
    read_binary("data/neighbor.bin", reinterpret_cast<float*>(h_neighbor), neighbor_total);

    float* d_position = nullptr;
    float* d_charge = nullptr;
    int* d_neighbor = nullptr;
    float* d_force = nullptr;
    float* d_potential = nullptr;
    cudaMalloc(&d_position, elements * sizeof(float));
    cudaMemcpy(d_position, h_position, elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_charge, N * sizeof(float));
    cudaMemcpy(d_charge, h_charge, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_neighbor, neighbor_total * sizeof(int));
    cudaMemcpy(d_neighbor, h_neighbor, neighbor_total * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_force, elements * sizeof(float));
    cudaMalloc(&d_potential, N * sizeof(float));

    const int threads = 128;
    const int blocks = (N + threads - 1) / threads;
    yukawa<<<blocks, threads>>>(d_position, d_charge, d_neighbor, d_force, d_potential, N, SLOTS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "yukawa kernel: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    float* h_force = new float[elements];
    float* h_potential = new float[N];
    cudaMemcpy(h_force, d_force, elements * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_potential, d_potential, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/force.bin", h_force, elements);
    write_binary("data/potential.bin", h_potential, N);

    cudaFree(d_position);
    cudaFree(d_charge);
    cudaFree(d_neighbor);
    cudaFree(d_force);
    cudaFree(d_potential);
    delete[] h_position;
    delete[] h_charge;
    delete[] h_neighbor;
    delete[] h_force;
    delete[] h_potential;
    return 0;
}
