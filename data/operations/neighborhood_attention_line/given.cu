constexpr int HEADS = 4;
constexpr int LENGTH = 200;
constexpr int HEAD_DIM = 16;

__global__ void neighborhood_attention(const float* q, const float* k, const float* v, float* out,
                                       int heads, int length) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= heads * length) return;
    int head = idx / length;
    int i = idx % length;
    int start = min(max(i - 4, 0), length - 9);
    const float* query = q + idx * HEAD_DIM;
    const float* keys = k + (head * length + start) * HEAD_DIM;
    const float* values = v + (head * length + start) * HEAD_DIM;
    float weight[9];
    float largest = -FLT_MAX;
    for (int j = 0; j < 9; ++j) {
        float dot = 0.0f;
        for (int d = 0; d < HEAD_DIM; ++d) dot += query[d] * keys[j * HEAD_DIM + d];
        weight[j] = 0.25f * dot;
        largest = fmaxf(largest, weight[j]);
    }
    float sum = 0.0f;
    for (int j = 0; j < 9; ++j) {
        weight[j] = expf(weight[j] - largest);
        sum += weight[j];
    }
    for (int d = 0; d < HEAD_DIM; ++d) {
        float acc = 0.0f;
        for (int j = 0; j < 9; ++j) acc += weight[j] * values[j * HEAD_DIM + d];
        out[idx * HEAD_DIM + d] = acc / sum;
    }
}

int main() {
    const size_t bytes = HEADS * LENGTH * 16 * sizeof(float);

    float* h_q = new float[HEADS * LENGTH * 16];
    float* h_k = new float[HEADS * LENGTH * 16];
    float* h_v = new float[HEADS * LENGTH * 16];
    float* h_out = new float[HEADS * LENGTH * 16];
    read_binary("data/q.bin", h_q, HEADS * LENGTH * 16);
    read_binary("data/k.bin", h_k, HEADS * LENGTH * 16);
    read_binary("data/v.bin", h_v, HEADS * LENGTH * 16);

    float* d_q;
    float* d_k;
    float* d_v;
    float* d_out;
    cudaMalloc((void**)&d_q, bytes);
    cudaMalloc((void**)&d_k, bytes);
    cudaMalloc((void**)&d_v, bytes);
    cudaMalloc((void**)&d_out, bytes);
    cudaMemcpy(d_q, h_q, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_k, h_k, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, h_v, bytes, cudaMemcpyHostToDevice);

    const int block_size = 128;
    const int grid_size = (HEADS * LENGTH + block_size - 1) / block_size;
    neighborhood_attention<<<grid_size, block_size>>>(d_q, d_k, d_v, d_out, HEADS, LENGTH);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_out, d_out, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/out.bin", h_out, HEADS * LENGTH * 16);

    delete[] h_q;
    delete[] h_k;
    delete[] h_v;
    delete[] h_out;
    cudaFree(d_q);
    cudaFree(d_k);
    cudaFree(d_v);
    cudaFree(d_out);
    return 0;
}
