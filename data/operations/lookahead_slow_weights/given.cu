const int GROUPS = 20;
const int WIDTH = 600;
#define NUM_ELEMENTS (GROUPS * WIDTH)

__global__ void lookahead(const float* fast, const float* slow, const int* counter, const int* period,
                          float* fast_out, float* slow_out, int* counter_out, int width) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int g = blockIdx.y;
    if (k >= width) return;
    int count = counter[g] + 1;
    bool sync = count == period[g];
    size_t i = (size_t)g * width + k;
    if (sync) {
        float s = slow[i] + 0.5f * (fast[i] - slow[i]);
        slow_out[i] = s;
        fast_out[i] = s;
    } else {
        slow_out[i] = slow[i];
        fast_out[i] = fast[i];
    }
    if (k == 0) counter_out[g] = sync ? 0 : count;
}

int main() {
    float* h_fast = new float[NUM_ELEMENTS];
    read_binary("data/fast.bin", h_fast, NUM_ELEMENTS);
    float* d_fast = nullptr;
    cudaMalloc((void**)&d_fast, NUM_ELEMENTS * sizeof(float));
    cudaMemcpy(d_fast, h_fast, NUM_ELEMENTS * sizeof(float), cudaMemcpyHostToDevice);

    float* h_slow = new float[NUM_ELEMENTS];
    read_binary("data/slow.bin", h_slow, NUM_ELEMENTS);
    float* d_slow = nullptr;
    cudaMalloc((void**)&d_slow, NUM_ELEMENTS * sizeof(float));
    cudaMemcpy(d_slow, h_slow, NUM_ELEMENTS * sizeof(float), cudaMemcpyHostToDevice);

    int* h_counter = new int[GROUPS];
    read_binary("data/counter.bin", reinterpret_cast<float*>(h_counter), GROUPS);
    int* d_counter = nullptr;
    cudaMalloc((void**)&d_counter, GROUPS * sizeof(int));
    cudaMemcpy(d_counter, h_counter, GROUPS * sizeof(int), cudaMemcpyHostToDevice);

    int* h_period = new int[GROUPS];
    read_binary("data/period.bin", reinterpret_cast<float*>(h_period), GROUPS);
    int* d_period = nullptr;
    cudaMalloc((void**)&d_period, GROUPS * sizeof(int));
    cudaMemcpy(d_period, h_period, GROUPS * sizeof(int), cudaMemcpyHostToDevice);

    float* h_fast_out = new float[NUM_ELEMENTS];
    float* d_fast_out = nullptr;
    cudaMalloc((void**)&d_fast_out, NUM_ELEMENTS * sizeof(float));
    float* h_slow_out = new float[NUM_ELEMENTS];
    float* d_slow_out = nullptr;
    cudaMalloc((void**)&d_slow_out, NUM_ELEMENTS * sizeof(float));
    int* h_counter_out = new int[GROUPS];
    int* d_counter_out = nullptr;
    cudaMalloc((void**)&d_counter_out, GROUPS * sizeof(int));

    const int threads = 256;
    dim3 grid((WIDTH + threads - 1) / threads, GROUPS);
    lookahead<<<grid, threads>>>(d_fast, d_slow, d_counter, d_period, d_fast_out, d_slow_out,
                                 d_counter_out, WIDTH);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "launch error\n";
        return 1;
    }

    cudaMemcpy(h_fast_out, d_fast_out, NUM_ELEMENTS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_slow_out, d_slow_out, NUM_ELEMENTS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_counter_out, d_counter_out, GROUPS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/fast_out.bin", h_fast_out, NUM_ELEMENTS);
    write_binary("data/slow_out.bin", h_slow_out, NUM_ELEMENTS);
    write_binary("data/counter_out.bin", reinterpret_cast<const float*>(h_counter_out), GROUPS);

    cudaFree(d_fast);
    cudaFree(d_slow);
    cudaFree(d_counter);
    cudaFree(d_period);
    cudaFree(d_fast_out);
    cudaFree(d_slow_out);
    cudaFree(d_counter_out);
    delete[] h_fast;
    delete[] h_slow;
    delete[] h_counter;
    delete[] h_period;
    delete[] h_fast_out;
    delete[] h_slow_out;
    delete[] h_counter_out;
    return 0;
}
