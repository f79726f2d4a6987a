const int CHAINS = 20;
const int BEADS = 50;

__device__ void add_spring(const float* p, const float* other, float* fx, float* fy) {
    float dx = other[0] - p[0];
    float dy = other[1] - p[1];
    float length = sqrtf(dx * dx + dy * dy);
    float strength = 50.0f * (length - 0.5f) / length;
    *fx += strength * dx;
    *fy += strength * dy;
}

__global__ void chain_step(const float* position, const float* velocity, float* new_position,
                           float* new_velocity, int total, int beads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    int bead = i % beads;
    const float* p = position + 2 * i;
    float vx = velocity[2 * i];
    float vy = velocity[2 * i + 1];
    float x = p[0];
    float y = p[1];
    if (bead > 0) {
        float fx = -0.2f * vx;
        float fy = -9.81f - 0.2f * vy;
        add_spring(p, p - 2, &fx, &fy);
        if (bead + 1 < beads) add_spring(p, p + 2, &fx, &fy);
        vx += 0.01f * fx;
        vy += 0.01f * fy;
        x += 0.01f * vx;
        y += 0.01f * vy;
    }
    new_velocity[2 * i] = vx;
    new_velocity[2 * i + 1] = vy;
    new_position[2 * i] = x;
    new_position[2 * i + 1] = y;
}

int main() {
    const size_t size = (size_t)CHAINS * BEADS * 2;

    std::vector<float> h_position(size);
    std::vector<float> h_velocity(size);
    std::vector<float> h_new_position(size);
    std::vector<float> h_new_velocity(size);
    read_binary("data/position.bin", h_position.data(), size);
    read_binary("data/velocity.bin", h_velocity.data(), size);

    float* d_position;
    float* d_velocity;
    float* d_new_position;
    float* d_new_velocity;
    cudaMalloc((void**)&d_position, size * sizeof(float));
    cudaMalloc((void**)&d_velocity, size * sizeof(float));
    cudaMalloc((void**)&d_new_position, size * sizeof(float));
    cudaMalloc((void**)&d_new_velocity, size * sizeof(float));
    cudaMemcpy(d_position, h_position.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_velocity, h_velocity.data(), size * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 128;
    int blocks = (CHAINS * BEADS + threads - 1) / threads;
    for (int s = 0; s < 12; ++s) {
        chain_step<<<blocks, threads>>>(d_position, d_velocity, d_new_position, d_new_velocity,
            CHAINS * BEADS, BEADS);
        std::swap(d_position, d_new_position);
        std::swap(d_velocity, d_new_velocity);
    }
    std::swap(d_position, d_new_position);
    std::swap(d_velocity, d_new_velocity);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_new_position.data(), d_new_position, size * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/new_position.bin", h_new_position.data(), size);
    cudaMemcpy(h_new_velocity.data(), d_new_velocity, size * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/new_velocity.bin", h_new_velocity.data(), size);

    cudaFree(d_position);
    cudaFree(d_velocity);
    cudaFree(d_new_position);
    cudaFree(d_new_velocity);
    return 0;
}
