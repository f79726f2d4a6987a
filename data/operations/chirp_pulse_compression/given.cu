const int PULSES = 6;
const int SAMPLES = 600;
const int DELAYS = SAMPLES - 127;
const int CHIRP = 128;

__global__ void compress_pulses(const float* echo, float* power) {
    __shared__ float c[CHIRP];
    __shared__ float s[CHIRP];
    for (int j = threadIdx.x; j < CHIRP; j += blockDim.x) {
        int phase = (j - 64) * (j - 64) % 256;
        c[j] = cospif(phase / 128.0f);
        s[j] = sinpif(phase / 128.0f);
    }
    __syncthreads();
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    int p = blockIdx.y;
    if (d >= DELAYS) return;
    const float* e = echo + 2 * (p * SAMPLES + d);
    float re = 0.0f;
    float im = 0.0f;
    for (int j = 0; j < CHIRP; ++j) {
        re += e[2 * j] * c[j] + e[2 * j + 1] * s[j];
        im += e[2 * j + 1] * c[j] - e[2 * j] * s[j];
    }
    re /= CHIRP;
    im /= CHIRP;
    power[p * DELAYS + d] = re * re + im * im;
}

int main() {
    const size_t power_total = PULSES * DELAYS;

    std::vector<float> h_echo(PULSES * SAMPLES * 2);
    read_binary("data/echo.bin", h_echo.data(), PULSES * SAMPLES * 2);

    float* d_echo = nullptr;
    float* d_power = nullptr;
    cudaMalloc(&d_echo, sizeof(float) * PULSES * SAMPLES * 2);
    cudaMalloc(&d_power, power_total * sizeof(float));
    cudaMemcpy(d_echo, h_echo.data(), sizeof(float) * PULSES * SAMPLES * 2, cudaMemcpyHostToDevice);

    dim3 grid((DELAYS + 127) / 128, PULSES);
    compress_pulses<<<grid, 128>>>(d_echo, d_power);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    std::vector<float> h_power(power_total);
    cudaMemcpy(h_power.data(), d_power, power_total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/power.bin", h_power.data(), power_total);

    cudaFree(d_power);
    cudaFree(d_echo);
    return 0;
}
