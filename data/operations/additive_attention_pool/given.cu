constexpr int BATCH = 6;
constexpr int STEPS = 30;
constexpr int WIDTH = 40;

__global__ void attention_weights(const float* keys, const float* query, const float* v,
                                  const int* lengths, float* attention, int width) {
    __shared__ float score[STEPS];
    int b = blockIdx.x;
    int n = lengths[b];
    for (int t = threadIdx.x; t < n; t += blockDim.x) {
        float s = 0.0f;
        for (int j = 0; j < width; j++) {
            s += v[j] * tanhf(query[b * width + j] + keys[(b * STEPS + t) * width + j]);
        }
        score[t] = s;
    }
    __syncthreads();
    float top = score[0];
    for (int t = 1; t < n; t++) top = fmaxf(top, score[t]);
    float total = 0.0f;
    for (int t = 0; t < n; t++) total += expf(score[t] - top);
    for (int t = threadIdx.x; t < STEPS; t += blockDim.x) {
        attention[b * STEPS + t] = t < n ? expf(score[t] - top) / total : 0.0f;
    }
}

__global__ void weighted_sum(const float* keys, const float* attention, float* context, int batch, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * width) return;
    int b = i / width;
    float sum = 0.0f;
    for (int t = 0; t < STEPS; t++) {
        sum += attention[b * STEPS + t] * keys[(b * STEPS + t) * width + i % width];
    }
    context[i] = sum;
}

int main() {
    const size_t keys_total = BATCH * STEPS * WIDTH;
    const int numel = BATCH * WIDTH;

    float* h_keys = new float[keys_total];
    float* h_query = new float[numel];
    float* h_v = new float[WIDTH];
    int* h_lengths = new int[BATCH];
    float* h_context = new float[numel];
    float* h_attention = new float[BATCH * STEPS];

    read_binary("data/keys.bin", h_keys, keys_total);
    read_binary("data/query.bin", h_query, numel);
    read_binary("data/v.bin", h_v, WIDTH);
    read_binary("data/lengths.bin", reinterpret_cast<float*>(h_lengths), BATCH);

    float *d_keys, *d_query, *d_v, *d_context, *d_attention;
    int *d_lengths;
    cudaMalloc(&d_keys, keys_total * sizeof(float));
    cudaMalloc(&d_query, numel * sizeof(float));
    cudaMalloc(&d_v, WIDTH * sizeof(float));
    cudaMalloc(&d_lengths, BATCH * sizeof(int));
    cudaMalloc(&d_context, numel * sizeof(float));
    cudaMalloc(&d_attention, BATCH * STEPS * sizeof(float));

    cudaMemcpy(d_keys, h_keys, keys_total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_query, h_query, numel * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, h_v, WIDTH * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_lengths, h_lengths, BATCH * sizeof(int), cudaMemcpyHostToDevice);

    const int threads = 128;
    attention_weights<<<BATCH, threads>>>(d_keys, d_query, d_v, d_lengths, d_attention, WIDTH);
    weighted_sum<<<(numel + threads - 1) / threads, threads>>>(d_keys, d_attention, d_context, BATCH, WIDTH);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA failure\n";
        return 1;
    }

    cudaMemcpy(h_context, d_context, numel * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_attention, d_attention, BATCH * STEPS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/context.bin", h_context, numel);
    write_binary("data/attention.bin", h_attention, BATCH * STEPS);

    cudaFree(d_keys);
    cudaFree(d_query);
    cudaFree(d_v);
    cudaFree(d_lengths);
    cudaFree(d_context);
    cudaFree(d_attention);
    delete[] h_keys;
    delete[] h_query;
    delete[] h_v;
    delete[] h_lengths;
    delete[] h_context;
    delete[] h_attention;
    return 0;
}
