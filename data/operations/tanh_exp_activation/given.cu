const int N = 15001;

__global__ void tanh_exp(const float* signal, float* activated, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    // beyond 20 the tanh is 1 anyway, and expf cannot overflow
    float e = expf(fminf(signal[i], 20.0f));
    activated[i] = signal[i] * tanhf(e);
}

int main() {
    const size_t bytes = N * sizeof(float);
    float* h_signal = new float[N];
    read_binary("data/signal.bin", h_signal, N);
    float* h_activated = new float[N];

    float *d_signal, *d_activated;
    cudaMalloc(&d_signal, bytes);
    cudaMalloc(&d_activated, bytes);
    cudaMemcpy(d_signal, h_signal, bytes, cudaMemcpyHostToDevice);

    int threads = 512;
    int blocks = (N + threads - 1) / threads;
    tanh_exp<<<blocks, threads>>>(d_signal, d_activated, N);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_activated, d_activated, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/activated.bin", h_activated, N);

    cudaFree(d_signal);
    cudaFree(d_activated);
    delete[] h_signal;
    delete[] h_activated;
    return 0;
}
