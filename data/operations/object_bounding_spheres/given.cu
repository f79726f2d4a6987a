#define OBJECTS 40
#define SIZE 300
#define BLOCK 128

__device__ float block_max(float value, float* buffer) {
    int tid = threadIdx.x;
    __syncthreads();
    buffer[tid] = value;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (tid < s) buffer[tid] = fmaxf(buffer[tid], buffer[tid + s]);
        __syncthreads();
    }
    return buffer[0];
}

__global__ void bounding_spheres(const float* points, float* spheres, int size) {
    __shared__ float buffer[BLOCK];
    const float* p = points + (size_t)blockIdx.x * size * 3;
    float center[3];
    for (int k = 0; k < 3; ++k) {
        float high = -FLT_MAX;
        float minus_low = -FLT_MAX;
        for (int j = threadIdx.x; j < size; j += BLOCK) {
            high = fmaxf(high, p[3 * j + k]);
            minus_low = fmaxf(minus_low, -p[3 * j + k]);
        }
        high = block_max(high, buffer);
        minus_low = block_max(minus_low, buffer);
        center[k] = 0.5f * (high - minus_low);
    }
    float far = 0.0f;
    for (int j = threadIdx.x; j < size; j += BLOCK) {
        float dx = p[3 * j] - center[0];
        float dy = p[3 * j + 1] - center[1];
        float dz = p[3 * j + 2] - center[2];
        far = fmaxf(far, dx * dx + dy * dy + dz * dz);
    }
    far = block_max(far, buffer);
    if (threadIdx.x == 0) {
        for (int k = 0; k < 3; ++k) spheres[4 * blockIdx.x + k] = center[k];
        spheres[4 * blockIdx.x + 3] = sqrtf(far);
    }
}

int main() {
    std::vector<float> h_points(OBJECTS * SIZE * 3);
    read_binary("data/points.bin", h_points.data(), OBJECTS * SIZE * 3);
    std::vector<float> h_spheres(OBJECTS * 4);

    float* d_points = nullptr;
    float* d_spheres = nullptr;
    cudaMalloc(&d_points, sizeof(float) * OBJECTS * SIZE * 3);
    cudaMemcpy(d_points, h_points.data(), sizeof(float) * OBJECTS * SIZE * 3, cudaMemcpyHostToDevice);
    cudaMalloc(&d_spheres, sizeof(float) * OBJECTS * 4);

    bounding_spheres<<<OBJECTS, BLOCK>>>(d_points, d_spheres, SIZE);

    cudaMemcpy(h_spheres.data(), d_spheres, sizeof(float) * OBJECTS * 4, cudaMemcpyDeviceToHost);
    write_binary("data/spheres.bin", h_spheres.data(), OBJECTS * 4);

    cudaFree(d_points);
    cudaFree(d_spheres);
    return 0;
}
