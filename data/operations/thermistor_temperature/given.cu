const int SENSORS = 12;
const int SAMPLES = 1500;

__global__ void to_celsius(const int* adc, const float* coef, float* celsius, int n, int samples) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int q = adc[i];
        if (q <= 0 || q >= 4095) {
            celsius[i] = -999.0f;
        } else {
            const float* k = coef + (i / samples) * 3;
            float ln = logf(10000.0f * q / (4095 - q));
            celsius[i] = 1.0f / (k[0] + k[1] * ln + k[2] * ln * ln * ln) - 273.15f;
        }
    }
}

int main() {
    size_t n_adc = (size_t)SENSORS * SAMPLES;
    size_t n_coef = static_cast<size_t>(SENSORS) * 3;
    int* h_adc = new int[n_adc];
    float* h_coef = new float[n_coef];
    float* h_celsius = new float[n_adc];

    read_binary("data/adc.bin", reinterpret_cast<float*>(h_adc), n_adc);
    read_binary("data/coef.bin", h_coef, n_coef);

    int* d_adc;
    float* d_coef;
    float* d_celsius;
    cudaMalloc(&d_adc, n_adc * sizeof(int));
    cudaMalloc(&d_coef, n_coef * sizeof(float));
    cudaMalloc(&d_celsius, n_adc * sizeof(float));

    cudaMemcpy(d_adc, h_adc, n_adc * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_coef, h_coef, n_coef * sizeof(float), cudaMemcpyHostToDevice);

    const int threadsPerBlock = 256;
    const int numBlocks = (n_adc + threadsPerBlock - 1) / threadsPerBlock;
    to_celsius<<<numBlocks, threadsPerBlock>>>(d_adc, d_coef, d_celsius, n_adc, SAMPLES);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_celsius, d_celsius, n_adc * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/celsius.bin", h_celsius, n_adc);
    cudaFree(d_adc);
    cudaFree(d_coef);
    cudaFree(d_celsius);
    delete[] h_adc;
    delete[] h_coef;
    delete[] h_celsius;
    return 0;
}
