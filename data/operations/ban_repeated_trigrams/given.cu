const int BATCH = 16;
const int VOCAB = 500;
const int LENGTH = 100;

__global__ void copy_logits(const float* logits, float* filtered, int batch, int vocab) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * vocab) filtered[i] = logits[i];
}

__global__ void ban(const int* generated, float* filtered, int* banned, int vocab, int length) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (t + 2 > length - 1) return;
    const int* g = generated + b * length;
    if (g[t] != g[length - 2] || g[t + 1] != g[length - 1]) return;
    // only the first one to set the score counts the token
    float old = atomicExch(&filtered[(size_t)b * vocab + g[t + 2]], -1e9f);
    if (old != -1e9f) atomicAdd(&banned[b], 1);
}

int main() {
    const int num_logits = BATCH * VOCAB;
    const int num_generated = BATCH * LENGTH;
    float* h_logits = new float[num_logits];
    read_binary("data/logits.bin", h_logits, num_logits);
    int* h_generated = new int[num_generated];
    read_binary("data/generated.bin", reinterpret_cast<float*>(h_generated), num_generated);

    float* d_logits;
    cudaMalloc(&d_logits, num_logits * sizeof(float));
    int* d_generated;
    cudaMalloc(&d_generated, num_generated * sizeof(int));
    float* d_filtered;
    cudaMalloc(&d_filtered, num_logits * sizeof(float));
    int* d_banned;
    cudaMalloc(&d_banned, BATCH * sizeof(int));

    cudaMemcpy(d_logits, h_logits, num_logits * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_generated, h_generated, num_generated * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d_banned, 0, BATCH * sizeof(int));

    const int threads = 512;
    copy_logits<<<(num_logits + threads - 1) / threads, threads>>>(d_logits, d_filtered, BATCH, VOCAB);
    dim3 grid((LENGTH + threads - 1) / threads, BATCH);
    ban<<<grid, threads>>>(d_generated, d_filtered, d_banned, VOCAB, LENGTH);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << '\n';
        return 1;
    }

    float* h_filtered = new float[num_logits];
    int* h_banned = new int[BATCH];
    cudaMemcpy(h_filtered, d_filtered, num_logits * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_banned, d_banned, BATCH * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/filtered.bin", h_filtered, num_logits);
    write_binary("data/banned.bin", reinterpret_cast<const float*>(h_banned), BATCH);

    cudaFree(d_logits);
    cudaFree(d_generated);
    cudaFree(d_filtered);
    cudaFree(d_banned);
    delete[] h_logits;
    delete[] h_generated;
    delete[] h_filtered;
    delete[] h_banned;
    return 0;
}
