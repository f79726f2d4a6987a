const int LINES = 30;
const int CELLS = 250;
const int STEPS = 6;

__device__ float minmod(float a, float b) {
    if (a * b <= 0.0f) return 0.0f;
    return fabsf(a) < fabsf(b) ? a : b;
}

__device__ float face_value(float left, float mid, float right, float c) {
    return mid + 0.5f * (1.0f - c) * minmod(mid - left, right - mid);
}

__global__ void advect_step(const float* q, const float* courant, float* next, int cells) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int line = blockIdx.y;
    if (i >= cells) return;
    const float* row = q + line * cells;
    float c = courant[line];
    float q_m2 = row[(i + cells - 2) % cells];
    float q_m1 = row[(i + cells - 1) % cells];
    float q_0 = row[i];
    float q_p1 = row[(i + 1) % cells];
    float out_flow = face_value(q_m1, q_0, q_p1, c);
    float in_flow = face_value(q_m2, q_m1, q_0, c);
    next[line * cells + i] = q_0 - c * (out_flow - in_flow);
}

int main() {
    const size_t numel = (size_t)LINES * CELLS;

    float* h_profile = new float[numel];
    float* h_courant = new float[LINES];
    read_binary("data/profile.bin", h_profile, numel);
    read_binary("data/courant.bin", h_courant, LINES);

    float *d_profile, *d_courant;
    cudaMalloc(&d_profile, numel * sizeof(float));
    cudaMalloc(&d_courant, LINES * sizeof(float));
    cudaMemcpy(d_profile, h_profile, numel * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_courant, h_courant, LINES * sizeof(float), cudaMemcpyHostToDevice);

    float* d_moved;
    cudaMalloc(&d_moved, numel * sizeof(float));

    dim3 block(256);
    dim3 grid((CELLS + 255) / 256, LINES);
    for (int step = 0; step < STEPS; ++step) {
        advect_step<<<grid, block>>>(d_profile, d_courant, d_moved, CELLS);
        std::swap(d_profile, d_moved);
    }
    // After the last swap the newest values are in d_profile.
    std::swap(d_profile, d_moved);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << '\n';
        return 1;
    }

    float* h_moved = new float[numel];
    cudaMemcpy(h_moved, d_moved, numel * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/moved.bin", h_moved, numel);

    delete[] h_profile;
    delete[] h_courant;
    delete[] h_moved;
    cudaFree(d_profile);
    cudaFree(d_courant);
    cudaFree(d_moved);
    return 0;
}
