constexpr int TOTAL = 500;
constexpr int DIM = 30;
constexpr int BATCH = 9;
constexpr int MAX_LEN = 60;

__global__ void pad_tokens(const float* values, const int* offsets, const float* position,
                           float* padded, unsigned char* valid, int max_len, int dim) {
    int t = blockIdx.x;
    int b = blockIdx.y;
    bool used = t < offsets[b + 1] - offsets[b];
    int slot = b * max_len + t;
    if (threadIdx.x == 0) valid[slot] = used ? 1 : 0;
    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        float v = 0.0f;
        if (used) v = values[(size_t)(offsets[b] + t) * dim + d] + position[t * dim + d];
        padded[(size_t)slot * dim + d] = v;
    }
}

int main() {
    const int values_size = TOTAL * DIM;
    const size_t offsets_total = BATCH + 1;
    float* h_values = new float[values_size];
    read_binary("data/values.bin", h_values, values_size);
    int* h_offsets = new int[offsets_total];
    read_binary("data/offsets.bin", reinterpret_cast<float*>(h_offsets), offsets_total);
    float* h_position = new float[MAX_LEN * DIM];
    read_binary("data/position.bin", h_position, MAX_LEN * DIM);

    float* d_values;
    int* d_offsets;
    float* d_position;
    float* d_padded;
    unsigned char* d_valid;
    cudaMalloc(&d_values, values_size * sizeof(float));
    cudaMemcpy(d_values, h_values, values_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_offsets, offsets_total * sizeof(int));
    cudaMemcpy(d_offsets, h_offsets, offsets_total * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_position, sizeof(float) * MAX_LEN * DIM);
    cudaMemcpy(d_position, h_position, sizeof(float) * MAX_LEN * DIM, cudaMemcpyHostToDevice);
    cudaMalloc(&d_padded, sizeof(float) * BATCH * MAX_LEN * DIM);
    cudaMalloc(&d_valid, sizeof(unsigned char) * BATCH * MAX_LEN);

    dim3 grid(MAX_LEN, BATCH);
    pad_tokens<<<grid, 64>>>(d_values, d_offsets, d_position, d_padded, d_valid, MAX_LEN, DIM);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    float* h_padded = new float[BATCH * MAX_LEN * DIM];
    unsigned char* h_valid = new unsigned char[BATCH * MAX_LEN];
    cudaMemcpy(h_padded, d_padded, sizeof(float) * BATCH * MAX_LEN * DIM, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_valid, d_valid, sizeof(unsigned char) * BATCH * MAX_LEN, cudaMemcpyDeviceToHost);
    write_binary("data/padded.bin", h_padded, BATCH * MAX_LEN * DIM);
    std::ofstream out("data/valid.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_valid), BATCH * MAX_LEN);

    cudaFree(d_values);
    cudaFree(d_offsets);
    cudaFree(d_position);
    cudaFree(d_padded);
    cudaFree(d_valid);
    delete[] h_values;
    delete[] h_offsets;
    delete[] h_position;
    delete[] h_padded;
    delete[] h_valid;
    return 0;
}
