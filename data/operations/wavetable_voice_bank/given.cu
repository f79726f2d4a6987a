const int VOICES = 12;
const int SAMPLES = 1500;

__global__ void oscillators(const float* table, const unsigned int* start, const unsigned int* step,
                            const float* volume, const unsigned int* ticks, float* sound, int voices,
                            int samples) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= voices * samples) return;
    int v = i / samples;
    unsigned int p = start[v] + ticks[i % samples] * step[v];
    unsigned int k = p >> 22;
    float q = (p & 0x3fffff) / 4194304.0f;
    float left = table[k];
    float right = table[(k + 1) % 1024];
    sound[i] = volume[v] * (left + q * (right - left));
}

int main() {
    const int elements = VOICES * SAMPLES;
    float* h_table = new float[1024];
    read_binary("data/table.bin", h_table, 1024);
    unsigned int* h_start = new unsigned int[VOICES];
    read_binary("data/start.bin", reinterpret_cast<float*>(h_start), VOICES);
    unsigned int* h_step = new unsigned int[VOICES];
    read_binary("data/step.bin", reinterpret_cast<float*>(h_step), VOICES);
    float* h_volume = new float[VOICES];
    read_binary("data/volume.bin", h_volume, VOICES);
    unsigned int* h_ticks = new unsigned int[SAMPLES];
    read_binary("data/ticks.bin", reinterpret_cast<float*>(h_ticks), SAMPLES);

    float *d_table, *d_volume, *d_sound;
    unsigned int *d_start, *d_step, *d_ticks;
    cudaMalloc(&d_table, 1024 * sizeof(float));
    cudaMemcpy(d_table, h_table, 1024 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_start, VOICES * sizeof(unsigned int));
    cudaMemcpy(d_start, h_start, VOICES * sizeof(unsigned int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_step, VOICES * sizeof(unsigned int));
    cudaMemcpy(d_step, h_step, VOICES * sizeof(unsigned int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_volume, VOICES * sizeof(float));
    cudaMemcpy(d_volume, h_volume, VOICES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_ticks, SAMPLES * sizeof(unsigned int));
    cudaMemcpy(d_ticks, h_ticks, SAMPLES * sizeof(unsigned int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_sound, elements * sizeof(float));

    dim3 block(256);
    dim3 grid((elements + block.x - 1) / block.x);
    oscillators<<<grid, block>>>(d_table, d_start, d_step, d_volume, d_ticks, d_sound, VOICES, SAMPLES);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "device error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    float* h_sound = new float[elements];
    cudaMemcpy(h_sound, d_sound, elements * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/sound.bin", h_sound, elements);

    cudaFree(d_table);
    cudaFree(d_start);
    cudaFree(d_step);
    cudaFree(d_volume);
    cudaFree(d_ticks);
    cudaFree(d_sound);
    delete[] h_table;
    delete[] h_start;
    delete[] h_step;
    delete[] h_volume;
    delete[] h_ticks;
    delete[] h_sound;
    return 0;
}
