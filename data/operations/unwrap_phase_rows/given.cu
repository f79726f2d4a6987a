#define ROWS 50
#define COLS 300

__global__ void unwrap_rows(const float* phase, float* unwrapped, int* turns, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float pi = 3.14159265f;
    int turn = 0;
    float previous = phase[r * cols];
    for (int c = 0; c < cols; ++c) {
        float current = phase[r * cols + c];
        float d = current - previous;
        if (d > pi) turn -= 1;
        if (d < -pi) turn += 1;
        unwrapped[r * cols + c] = current + 2.0f * pi * (float)turn;
        turns[r * cols + c] = turn;
        previous = current;
    }
}

int main() {
    const int numel = ROWS * COLS;

    float* d_phase;
    cudaMalloc(&d_phase, sizeof(float) * numel);
    float* d_unwrapped;
    cudaMalloc(&d_unwrapped, sizeof(float) * numel);
    int* d_turns;
    cudaMalloc(&d_turns, sizeof(int) * numel);

    float* h_phase = new float[numel];
    read_binary("data/phase.bin", h_phase, numel);
    cudaMemcpy(d_phase, h_phase, sizeof(float) * numel, cudaMemcpyHostToDevice);

    int num_threads = 128;
    int num_blocks = (ROWS + num_threads - 1) / num_threads;
    unwrap_rows<<<num_blocks, num_threads>>>(d_phase, d_unwrapped, d_turns, ROWS, COLS);
    cudaDeviceSynchronize();

    float* h_unwrapped = new float[numel];
    int* h_turns = new int[numel];
    cudaMemcpy(h_unwrapped, d_unwrapped, sizeof(float) * numel, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_turns, d_turns, sizeof(int) * numel, cudaMemcpyDeviceToHost);
    write_binary("data/unwrapped.bin", h_unwrapped, numel);
    write_binary("data/turns.bin", reinterpret_cast<float*>(h_turns), numel);

    cudaFree(d_phase);
    cudaFree(d_unwrapped);
    cudaFree(d_turns);
    delete[] h_phase;
    delete[] h_unwrapped;
    delete[] h_turns;
    return 0;
}
