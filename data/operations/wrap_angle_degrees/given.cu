constexpr int N = 15000;

__global__ void shortest_turn(const float* heading, const float* target, float* turn, int* turns, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float d = target[i] - heading[i];
        int k = 0;
        while (d >= 180.0f) {
            d -= 360.0f;
            k++;
        }
        while (d < -180.0f) {
            d += 360.0f;
            k--;
        }
        turn[i] = d;
        turns[i] = k;
    }
}

int main() {
    const size_t heading_bytes = N * sizeof(float);
    const size_t turns_bytes = N * sizeof(int);

    float* h_heading = new float[N];
    float* h_target = new float[N];
    float* h_turn = new float[N];
    int* h_turns = new int[N];

    read_binary("data/heading.bin", h_heading, N);
    read_binary("data/target.bin", h_target, N);

    float *d_heading, *d_target, *d_turn;
    int *d_turns;
    cudaMalloc(&d_heading, heading_bytes);
    cudaMalloc(&d_target, heading_bytes);
    cudaMalloc(&d_turn, heading_bytes);
    cudaMalloc(&d_turns, turns_bytes);

    cudaMemcpy(d_heading, h_heading, heading_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_target, h_target, heading_bytes, cudaMemcpyHostToDevice);

    int threadsPerBlock = 256;
    int numBlocks = (N + threadsPerBlock - 1) / threadsPerBlock;
    shortest_turn<<<numBlocks, threadsPerBlock>>>(d_heading, d_target, d_turn, d_turns, N);
    cudaDeviceSynchronize();

    cudaMemcpy(h_turn, d_turn, heading_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_turns, d_turns, turns_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/turn.bin", h_turn, N);
    write_binary("data/turns.bin", reinterpret_cast<const float*>(h_turns), N);

    cudaFree(d_heading);
    cudaFree(d_target);
    cudaFree(d_turn);
    cudaFree(d_turns);
    delete[] h_heading;
    delete[] h_target;
    delete[] h_turn;
    delete[] h_turns;
    return 0;
}
