const int LINES = 25;
const int CELLS = 400;
const int STEPS = 8;

__device__ float godunov_flux(float a, float b) {
    float left = fmaxf(a, 0.0f);
    float right = fminf(b, 0.0f);
    return fmaxf(0.5f * left * left, 0.5f * right * right);
}

__global__ void burgers_step(const float* u, float* u_next, int lines, int cells) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= lines * cells) return;
    int i = idx % cells;
    float mid = u[idx];
    float left = i > 0 ? u[idx - 1] : mid;
    float right = i < cells - 1 ? u[idx + 1] : mid;
    u_next[idx] = mid - 0.3f * (godunov_flux(mid, right) - godunov_flux(left, mid));
}

int main() {
    const size_t n = (size_t)LINES * CELLS;

    float* h_start = new float[n];
    float* h_final_state = new float[n];

    read_binary("data/start.bin", h_start, n);

    float *d_start, *d_final_state;
    cudaMalloc(&d_start, n * sizeof(float));
    cudaMalloc(&d_final_state, n * sizeof(float));
    cudaMemcpy(d_start, h_start, n * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    for (int s = 0; s < STEPS; ++s) {
        burgers_step<<<blocks, threads>>>(d_start, d_final_state, LINES, CELLS);
        std::swap(d_start, d_final_state);
    }
    std::swap(d_start, d_final_state);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "CUDA failure: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_final_state, d_final_state, n * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/final_state.bin", h_final_state, n);

    delete[] h_start;
    delete[] h_final_state;
    cudaFree(d_start);
    cudaFree(d_final_state);
    return 0;
}
