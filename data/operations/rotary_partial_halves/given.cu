#define TOKENS 100
#define HEADS 8
#define HEAD_DIM 48
#define PAIRS 16

__global__ void rotate(const float* q, const int* position, float* rotated, int tokens, int heads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * heads * PAIRS) return;
    int k = i % PAIRS;
    int head = i / PAIRS;
    int token = head / heads;
    const float* in = q + (size_t)head * HEAD_DIM;
    float* out = rotated + (size_t)head * HEAD_DIM;
    float angle = position[token] * powf(10000.0f, -k / (float)PAIRS);
    float c = cosf(angle), s = sinf(angle);
    out[k] = in[k] * c - in[k + PAIRS] * s;
    out[k + PAIRS] = in[k + PAIRS] * c + in[k] * s;
    out[k + 2 * PAIRS] = in[k + 2 * PAIRS];
}

int main() {
    const size_t n = (size_t)TOKENS * HEADS * HEAD_DIM;
    float* h_q = new float[n];
    read_binary("data/q.bin", h_q, n);
    float* d_q = nullptr;
    cudaMalloc(&d_q, n * sizeof(float));
    cudaMemcpy(d_q, h_q, n * sizeof(float), cudaMemcpyHostToDevice);

    int* h_position = new int[TOKENS];
    read_binary("data/position.bin", reinterpret_cast<float*>(h_position), TOKENS);
    int* d_position = nullptr;
    cudaMalloc(&d_position, TOKENS * sizeof(int));
    cudaMemcpy(d_position, h_position, TOKENS * sizeof(int), cudaMemcpyHostToDevice);

    float* h_rotated = new float[n];
    float* d_rotated = nullptr;
    cudaMalloc(&d_rotated, n * sizeof(float));

    dim3 block(256);
    dim3 grid((TOKENS * HEADS * PAIRS + block.x - 1) / block.x);
    rotate<<<grid, block>>>(d_q, d_position, d_rotated, TOKENS, HEADS);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(error) << '\n';
        return 1;
    }

    cudaMemcpy(h_rotated, d_rotated, n * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/rotated.bin", h_rotated, n);

    cudaFree(d_q);
    cudaFree(d_position);
    cudaFree(d_rotated);
    delete[] h_q;
    delete[] h_position;
    delete[] h_rotated;
    return 0;
}
