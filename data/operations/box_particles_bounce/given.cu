constexpr int kParticles = 4000;
constexpr int kEdge = 1000000;
constexpr int kSteps = 40;

__device__ int reflect(int* c, int* v) {
    if (*c >= 0 && *c <= kEdge) return 0;
    *c = *c < 0 ? -*c : 2 * kEdge - *c;
    *v = -(7 * *v / 8);
    return 1;
}

__global__ void bounce(const int* position, const int* velocity, int* new_position, int* bounces,
                       int particles) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles) return;
    int x = position[2 * i], y = position[2 * i + 1];
    int vx = velocity[2 * i], vy = velocity[2 * i + 1];
    int count = 0;
    for (int s = 0; s < kSteps; ++s) {
        vy -= 150;
        x += vx;
        y += vy;
        count += reflect(&x, &vx);
        count += reflect(&y, &vy);
    }
    new_position[2 * i] = x;
    new_position[2 * i + 1] = y;
    bounces[i] = count;
}

int main() {
    const int total = kParticles * 2;

    int* h_position = new int[total];
    int* h_velocity = new int[total];
    read_binary("data/position.bin", reinterpret_cast<float*>(h_position), total);
    read_binary("data/velocity.bin", reinterpret_cast<float*>(h_velocity), total);
    int *d_position, *d_velocity, *d_new_position, *d_bounces;
    cudaMalloc(&d_position, total * sizeof(int));
    cudaMalloc(&d_velocity, total * sizeof(int));
    cudaMalloc(&d_new_position, total * sizeof(int));
    cudaMalloc(&d_bounces, sizeof(int) * kParticles);
    cudaMemcpy(d_position, h_position, total * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_velocity, h_velocity, total * sizeof(int), cudaMemcpyHostToDevice);

    int threadsPerBlock = 256;
    int blocksPerGrid = (kParticles + threadsPerBlock - 1) / threadsPerBlock;
    bounce<<<blocksPerGrid, threadsPerBlock>>>(d_position, d_velocity, d_new_position, d_bounces, kParticles);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "launch failed\n";
        return 1;
    }

    int* h_new_position = new int[total];
    cudaMemcpy(h_new_position, d_new_position, total * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/new_position.bin", reinterpret_cast<const float*>(h_new_position), total);
    int* h_bounces = new int[kParticles];
    cudaMemcpy(h_bounces, d_bounces, sizeof(int) * kParticles, cudaMemcpyDeviceToHost);
    write_binary("data/bounces.bin", reinterpret_cast<const float*>(h_bounces), kParticles);

    cudaFree(d_position);
    delete[] h_position;
    cudaFree(d_velocity);
    delete[] h_velocity;
    cudaFree(d_new_position);
    delete[] h_new_position;
    cudaFree(d_bounces);
    delete[] h_bounces;
    return 0;
}
