constexpr int FRAMES = 4;
constexpr int PIXELS = 3000;
constexpr int THREADS = 256;

__device__ float wien_temperature(int blue, int red) {
    if (blue < 10 || red < 10) return 0.0f;
    float bottom = 5.0f * logf(0.8f / 0.6f) - logf((float)blue / (float)red);
    if (bottom <= 0.0f) return 5000.0f;
    float t = 14387.77f * (1.0f / 0.6f - 1.0f / 0.8f) / bottom;
    return fminf(fmaxf(t, 500.0f), 5000.0f);
}

__global__ void pyrometer(const unsigned short* blue, const unsigned short* red, float* temperature,
                          float* average, int pixels) {
    __shared__ float sum[THREADS];
    __shared__ int valid[THREADS];
    size_t start = (size_t)blockIdx.x * pixels;
    float total = 0.0f;
    int count = 0;
    for (int p = threadIdx.x; p < pixels; p += THREADS) {
        float t = wien_temperature((int)blue[start + p] - 64, (int)red[start + p] - 64);
        temperature[start + p] = t;
        total += t;
        if (t > 0.0f) ++count;
    }
    sum[threadIdx.x] = total;
    valid[threadIdx.x] = count;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) {
            sum[threadIdx.x] += sum[threadIdx.x + s];
            valid[threadIdx.x] += valid[threadIdx.x + s];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) average[blockIdx.x] = valid[0] > 0 ? sum[0] / valid[0] : 0.0f;
}

int main() {
    const size_t elements = FRAMES * PIXELS;
    const size_t blue_floats = (elements + 1) / 2;
    const size_t red_floats = (elements + 1) / 2;

    unsigned short* h_blue = new unsigned short[2 * blue_floats];
    read_binary("data/blue.bin", reinterpret_cast<float*>(h_blue), blue_floats);
    unsigned short* h_red = new unsigned short[2 * red_floats];
    read_binary("data/red.bin", reinterpret_cast<float*>(h_red), red_floats);

    unsigned short* d_blue = nullptr;
    unsigned short* d_red = nullptr;
    float* d_temperature = nullptr;
    float* d_average = nullptr;
    cudaMalloc(&d_blue, elements * sizeof(unsigned short));
    cudaMemcpy(d_blue, h_blue, elements * sizeof(unsigned short), cudaMemcpyHostToDevice);
    cudaMalloc(&d_red, elements * sizeof(unsigned short));
    cudaMemcpy(d_red, h_red, elements * sizeof(unsigned short), cudaMemcpyHostToDevice);
    cudaMalloc(&d_temperature, elements * sizeof(float));
    cudaMalloc(&d_average, sizeof(float) * FRAMES);

    pyrometer<<<FRAMES, THREADS>>>(d_blue, d_red, d_temperature, d_average, PIXELS);
    cudaDeviceSynchronize();

    float* h_temperature = new float[elements];
    float* h_average = new float[FRAMES];
    cudaMemcpy(h_temperature, d_temperature, elements * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_average, d_average, sizeof(float) * FRAMES, cudaMemcpyDeviceToHost);
    write_binary("data/temperature.bin", h_temperature, elements);
    write_binary("data/average.bin", h_average, FRAMES);

    delete[] h_blue;
    delete[] h_red;
    delete[] h_temperature;
    delete[] h_average;
    cudaFree(d_blue);
    cudaFree(d_red);
    cudaFree(d_temperature);
    cudaFree(d_average);
    return 0;
}
