const int CLIPS = 2;
const int COUNT = 40;
const int LENGTH = COUNT * 64 + 192;

__global__ void overlap_add(const float* frames, float* audio) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int clip = blockIdx.y;
    if (t >= LENGTH) return;
    int last = min(t / 64, COUNT - 1);
    int first = max(t / 64 - 3, 0);
    float sum = 0.0f;
    float weight = 0.0f;
    for (int f = first; f <= last; ++f) {
        int n = t - f * 64;
        float w = sinf(3.14159265f * (n + 0.5f) / 256.0f);
        sum += w * frames[(clip * COUNT + f) * 256 + n];
        weight += w * w;
    }
    audio[clip * LENGTH + t] = sum / fmaxf(weight, 0.05f);
}

int main() {
    const size_t audio_total = CLIPS * LENGTH;
    float* h_frames = new float[CLIPS * COUNT * 256];
    float* h_audio = new float[audio_total];
    read_binary("data/frames.bin", h_frames, CLIPS * COUNT * 256);

    float* d_frames = nullptr;
    cudaMalloc(&d_frames, CLIPS * COUNT * 256 * sizeof(float));
    cudaMemcpy(d_frames, h_frames, CLIPS * COUNT * 256 * sizeof(float), cudaMemcpyHostToDevice);
    float* d_audio = nullptr;
    cudaMalloc(&d_audio, audio_total * sizeof(float));

    dim3 grid((LENGTH + 255) / 256, CLIPS);
    overlap_add<<<grid, 256>>>(d_frames, d_audio);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(status) << "\n";
        return 1;
    }

    cudaMemcpy(h_audio, d_audio, audio_total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/audio.bin", h_audio, audio_total);

    cudaFree(d_frames);
    delete[] h_frames;
    cudaFree(d_audio);
    delete[] h_audio;
    return 0;
}
