#define CHANNELS 4
#define SAMPLES 5000
const int FRAME = 400;
const int HOP = 160;
const int FRAMES = (SAMPLES - 400) / 160 + 1;

__global__ void zero_crossings(const float* audio, float* rate, int channels, int samples, int frames) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= channels * frames) return;
    int c = id / frames;
    int f = id % frames;
    const float* frame = audio + (size_t)c * samples + f * HOP;
    int count = 0;
    for (int t = 1; t < FRAME; t++) {
        if ((frame[t] < 0.0f) != (frame[t - 1] < 0.0f)) count++;
    }
    rate[id] = (float)count / (FRAME - 1);
}

int main() {
    const int audio_total = CHANNELS * SAMPLES;
    const int rate_count = CHANNELS * FRAMES;

    std::vector<float> h_audio(audio_total);
    read_binary("data/audio.bin", h_audio.data(), audio_total);
    float *d_audio, *d_rate;
    cudaMalloc(&d_audio, audio_total * sizeof(float));
    cudaMalloc(&d_rate, rate_count * sizeof(float));
    cudaMemcpy(d_audio, h_audio.data(), audio_total * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 128;
    int blocks = (rate_count + threads - 1) / threads;
    zero_crossings<<<blocks, threads>>>(d_audio, d_rate, CHANNELS, SAMPLES, FRAMES);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(status) << "\n";
        return 1;
    }

    std::vector<float> h_rate(rate_count);
    cudaMemcpy(h_rate.data(), d_rate, rate_count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/rate.bin", h_rate.data(), rate_count);

    cudaFree(d_audio);
    cudaFree(d_rate);
    return 0;
}
