constexpr int BODIES = 50;
constexpr int SIZE = 200;
constexpr int BLOCK = 128;

__device__ float sum_block(float value, float* buffer) {
    int tid = threadIdx.x;
    __syncthreads();
    buffer[tid] = value;
    __syncthreads();
    for (int stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (tid < stride) buffer[tid] += buffer[tid + stride];
        __syncthreads();
    }
    return buffer[0];
}

__global__ void inertia_tensors(const float* particles, float* center, float* inertia, int size) {
    __shared__ float buffer[BLOCK];
    const float* p = particles + (size_t)blockIdx.x * size * 4;
    float first[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int j = threadIdx.x; j < size; j += BLOCK) {
        float m = p[4 * j + 3];
        for (int k = 0; k < 3; ++k) first[k] += m * p[4 * j + k];
        first[3] += m;
    }
    for (int k = 0; k < 4; ++k) first[k] = sum_block(first[k], buffer);
    float cx = first[0] / first[3];
    float cy = first[1] / first[3];
    float cz = first[2] / first[3];
    float second[6] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    for (int j = threadIdx.x; j < size; j += BLOCK) {
        float m = p[4 * j + 3];
        float x = p[4 * j] - cx, y = p[4 * j + 1] - cy, z = p[4 * j + 2] - cz;
        second[0] += m * (y * y + z * z);
        second[1] += m * (x * x + z * z);
        second[2] += m * (x * x + y * y);
        second[3] -= m * x * y;
        second[4] -= m * x * z;
        second[5] -= m * y * z;
    }
    for (int k = 0; k < 6; ++k) {
        float total = sum_block(second[k], buffer);
        if (threadIdx.x == 0) inertia[6 * blockIdx.x + k] = total;
    }
    if (threadIdx.x == 0) {
        center[3 * blockIdx.x] = cx;
        center[3 * blockIdx.x + 1] = cy;
        center[3 * blockIdx.x + 2] = cz;
    }
}

int main() {
    float* h_particles = new float[BODIES * SIZE * 4];
    read_binary("data/particles.bin", h_particles, BODIES * SIZE * 4);

    float* d_particles;
    cudaMalloc(&d_particles, BODIES * SIZE * 4 * sizeof(float));
    cudaMemcpy(d_particles, h_particles, BODIES * SIZE * 4 * sizeof(float), cudaMemcpyHostToDevice);

    float* d_center;
    float* d_inertia;
    cudaMalloc(&d_center, BODIES * 3 * sizeof(float));
    cudaMalloc(&d_inertia, BODIES * 6 * sizeof(float));

    inertia_tensors<<<BODIES, BLOCK>>>(d_particles, d_center, d_inertia, SIZE);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    float* h_center = new float[BODIES * 3];
    float* h_inertia = new float[BODIES * 6];
    cudaMemcpy(h_center, d_center, BODIES * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/center.bin", h_center, BODIES * 3);
    cudaMemcpy(h_inertia, d_inertia, BODIES * 6 * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/inertia.bin", h_inertia, BODIES * 6);

    cudaFree(d_particles);
    cudaFree(d_center);
    cudaFree(d_inertia);
    delete[] h_particles;
    delete[] h_center;
    delete[] h_inertia;
    return 0;
}
