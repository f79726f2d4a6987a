const int BATCH = 10;
const int N = 48;
const int THREADS = 128;

__device__ float block_sum(float value, float* buffer) {
    int t = threadIdx.x;
    buffer[t] = value;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s >>= 1) {
        if (t < s) buffer[t] += buffer[t + s];
        __syncthreads();
    }
    float total = buffer[0];
    __syncthreads();
    return total;
}

__global__ void power_iteration(const float* a, const float* start, float* vector, float* lambda_max) {
    __shared__ float v[N], w[N], buffer[THREADS];
    int t = threadIdx.x;
    const float* m = a + (size_t)blockIdx.x * N * N;
    for (int i = t; i < N; i += THREADS) w[i] = start[blockIdx.x * N + i];
    for (int step = 0; step <= 11; ++step) {
        float part = 0.0f;
        for (int i = t; i < N; i += THREADS) part += step == 11 ? v[i] * w[i] : w[i] * w[i];
        float total = block_sum(part, buffer);
        if (step == 11) {
            if (t == 0) lambda_max[blockIdx.x] = total;
            break;
        }
        for (int i = t; i < N; i += THREADS) v[i] = w[i] / sqrtf(total);
        __syncthreads();
        for (int i = t; i < N; i += THREADS) {
            float sum = 0.0f;
            for (int j = 0; j < N; ++j) sum += m[i * N + j] * v[j];
            w[i] = sum;
        }
        __syncthreads();
    }
    for (int i = t; i < N; i += THREADS) vector[blockIdx.x * N + i] = v[i];
}

int main() {
    const size_t a_total = BATCH * N * N;
    const size_t total = BATCH * N;
    const size_t buffer_bytes = total * sizeof(float);

    float* h_a = new float[a_total];
    float* h_start = new float[total];
    float* h_vector = new float[total];
    float* h_lambda_max = new float[BATCH];

    read_binary("data/a.bin", h_a, a_total);
    read_binary("data/start.bin", h_start, total);

    float *d_a, *d_start, *d_vector, *d_lambda_max;
    cudaMalloc(&d_a, a_total * sizeof(float));
    cudaMalloc(&d_start, buffer_bytes);
    cudaMalloc(&d_vector, buffer_bytes);
    cudaMalloc(&d_lambda_max, sizeof(float) * BATCH);
    cudaMemcpy(d_a, h_a, a_total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_start, h_start, buffer_bytes, cudaMemcpyHostToDevice);

    power_iteration<<<BATCH, THREADS>>>(d_a, d_start, d_vector, d_lambda_max);
    cudaDeviceSynchronize();

    cudaMemcpy(h_vector, d_vector, buffer_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_lambda_max, d_lambda_max, sizeof(float) * BATCH, cudaMemcpyDeviceToHost);
    write_binary("data/vector.bin", h_vector, total);
    write_binary("data/lambda_max.bin", h_lambda_max, BATCH);

    cudaFree(d_a);
    delete[] h_a;
    cudaFree(d_start);
    delete[] h_start;
    cudaFree(d_vector);
    delete[] h_vector;
    cudaFree(d_lambda_max);
    delete[] h_lambda_max;
    return 0;
}
