const int ROWS = 40;
const int BINS = 257;

__global__ void normalize_spectra(const float* z, const float* weight, float* scaled, float* level, int bins) {
    __shared__ float squares[256];
    int tid = threadIdx.x;
    const float* in = z + (size_t)blockIdx.x * bins * 2;
    float* out = scaled + (size_t)blockIdx.x * bins * 2;
    float sum = 0.0f;
    for (int i = tid; i < 2 * bins; i += blockDim.x) sum += in[i] * in[i];
    squares[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) squares[tid] += squares[tid + s];
        __syncthreads();
    }
    float rms = sqrtf(squares[0] / bins + 1e-8f);
    for (int b = tid; b < bins; b += blockDim.x) {
        float factor = weight[b] / rms;
        out[2 * b] = in[2 * b] * factor;
        out[2 * b + 1] = in[2 * b + 1] * factor;
    }
    if (tid == 0) level[blockIdx.x] = rms;
}

int main() {
    int count = ROWS * BINS * 2;
    const size_t bytes = count * sizeof(float);

    float* h_z = new float[count];
    read_binary("data/z.bin", h_z, count);
    float* h_weight = new float[BINS];
    read_binary("data/weight.bin", h_weight, BINS);
    float* h_scaled = new float[count];
    float* h_level = new float[ROWS];

    float *d_z, *d_weight, *d_scaled, *d_level;
    cudaMalloc(&d_z, bytes);
    cudaMemcpy(d_z, h_z, bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_weight, BINS * sizeof(float));
    cudaMemcpy(d_weight, h_weight, BINS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_scaled, bytes);
    cudaMalloc(&d_level, ROWS * sizeof(float));

    normalize_spectra<<<ROWS, 256>>>(d_z, d_weight, d_scaled, d_level, BINS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_scaled, d_scaled, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_level, d_level, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/scaled.bin", h_scaled, count);
    write_binary("data/level.bin", h_level, ROWS);

    cudaFree(d_z);
    cudaFree(d_weight);
    cudaFree(d_scaled);
    cudaFree(d_level);
    delete[] h_z;
    delete[] h_weight;
    delete[] h_scaled;
    delete[] h_level;
    return 0;
}
