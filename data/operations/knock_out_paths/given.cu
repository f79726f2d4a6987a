#define PATHS 300
#define STEPS 120

__global__ void knock_out(const float* path, const float* strike, float* payoff, int* hit, int paths,
                          int steps) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paths) return;
    const float* row = path + (size_t)p * steps;
    int when = -1;
    for (int k = 0; k < steps; k++) {
        if (row[k] <= 85.0f) {
            when = k;
            break;
        }
    }
    hit[p] = when;
    if (when >= 0) payoff[p] = 2.5f * expf(-0.04f * (when + 1) / steps);
    else payoff[p] = expf(-0.04f) * fmaxf(row[steps - 1] - strike[p], 0.0f);
}

int main() {
    const int numel = PATHS * STEPS;
    const size_t buffer_bytes = PATHS * sizeof(float);
    float* h_path = new float[numel];
    read_binary("data/path.bin", h_path, numel);
    float* h_strike = new float[PATHS];
    read_binary("data/strike.bin", h_strike, PATHS);
    float* h_payoff = new float[PATHS];
    int* h_hit = new int[PATHS];

    float* d_path;
    float* d_strike;
    float* d_payoff;
    int* d_hit;
    cudaMalloc(&d_path, numel * sizeof(float));
    cudaMalloc(&d_strike, buffer_bytes);
    cudaMalloc(&d_payoff, buffer_bytes);
    cudaMalloc(&d_hit, sizeof(int) * PATHS);
    cudaMemcpy(d_path, h_path, numel * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_strike, h_strike, buffer_bytes, cudaMemcpyHostToDevice);

    int block = 128;
    int grid = (PATHS + block - 1) / block;
    knock_out<<<grid, block>>>(d_path, d_strike, d_payoff, d_hit, PATHS, STEPS);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "knock kernel" << std::endl;
        return 1;
    }

    cudaMemcpy(h_payoff, d_payoff, buffer_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_hit, d_hit, sizeof(int) * PATHS, cudaMemcpyDeviceToHost);
    write_binary("data/payoff.bin", h_payoff, PATHS);
    write_binary("data/hit.bin", reinterpret_cast<const float*>(h_hit), PATHS);

    cudaFree(d_path);
    cudaFree(d_strike);
    cudaFree(d_payoff);
    cudaFree(d_hit);
    delete[] h_path;
    delete[] h_strike;
    delete[] h_payoff;
    delete[] h_hit;
    return 0;
}
