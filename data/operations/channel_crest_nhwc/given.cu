const int BATCH = 3;
const int HEIGHT = 20;
const int WIDTH = 24;
const int CHANNELS = 16;
const int PIXELS = HEIGHT * WIDTH;

__global__ void rms_crest(const float* x, float* rms, float* crest, int channels) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (k >= channels) return;
    const float* image = x + (size_t)b * PIXELS * channels;
    float sum = 0.0f;
    float top = 0.0f;
    for (int p = 0; p < PIXELS; ++p) {
        float v = image[(size_t)p * channels + k];
        sum += v * v;
        top = fmaxf(top, fabsf(v));
    }
    float root = sqrtf(sum / PIXELS);
    rms[b * channels + k] = root;
    crest[b * channels + k] = top > 0.0f ? top / root : 0.0f;
}

int main() {
    int n_x = BATCH * PIXELS * CHANNELS;
    int n_rms = BATCH * CHANNELS;
    float* h_x = new float[n_x];
    read_binary("data/x.bin", h_x, n_x);
    float* d_x = nullptr;
    cudaMalloc(&d_x, n_x * sizeof(float));
    cudaMemcpy(d_x, h_x, n_x * sizeof(float), cudaMemcpyHostToDevice);

    float* h_rms = new float[n_rms];
    float* d_rms = nullptr;
    cudaMalloc(&d_rms, n_rms * sizeof(float));
    float* h_crest = new float[n_rms];
    float* d_crest = nullptr;
    cudaMalloc(&d_crest, n_rms * sizeof(float));

    dim3 block(128);
    dim3 grid((CHANNELS + block.x - 1) / block.x, BATCH);
    rms_crest<<<grid, block>>>(d_x, d_rms, d_crest, CHANNELS);
    cudaError_t err = cudaGetLastError();
    if (err == cudaSuccess) err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_rms, d_rms, n_rms * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/rms.bin", h_rms, n_rms);
    cudaMemcpy(h_crest, d_crest, n_rms * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/crest.bin", h_crest, n_rms);
    cudaFree(d_x);
    cudaFree(d_rms);
    cudaFree(d_crest);
    delete[] h_x;
    delete[] h_rms;
    delete[] h_crest;
    return 0;
}
