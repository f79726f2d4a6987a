const int CHANNELS = 2;
const int BLOCKS = 40;
const int HOP = 64;

// One block per frame, one thread per coefficient.
__global__ void mdct_frames(const float* audio, float* coefficient) {
    __shared__ float frame[2 * HOP];
    int b = blockIdx.x;
    int c = blockIdx.y;
    int k = threadIdx.x;
    const float* x = audio + (c * (BLOCKS + 1) + b) * HOP;
    frame[k] = x[k] * sinpif((k + 0.5f) / (2 * HOP));
    frame[k + HOP] = x[k + HOP] * sinpif((k + HOP + 0.5f) / (2 * HOP));
    __syncthreads();
    float sum = 0.0f;
    for (int n = 0; n < 2 * HOP; ++n) {
        int phase = (2 * n + 1 + HOP) * (2 * k + 1) % (8 * HOP);
        sum += frame[n] * cospif((float)phase / (4 * HOP));
    }
    coefficient[(c * BLOCKS + b) * HOP + k] = sum;
}

int main() {
    const int audio_total = CHANNELS * (BLOCKS + 1) * HOP;
    const int coefficient_total = CHANNELS * BLOCKS * HOP;
    float* h_audio = new float[audio_total];
    read_binary("data/audio.bin", h_audio, audio_total);

    float* d_audio;
    float* d_coefficient;
    cudaMalloc(&d_audio, audio_total * sizeof(float));
    cudaMemcpy(d_audio, h_audio, audio_total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_coefficient, coefficient_total * sizeof(float));

    dim3 grid(BLOCKS, CHANNELS);
    mdct_frames<<<grid, HOP>>>(d_audio, d_coefficient);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    float* h_coefficient = new float[coefficient_total];
    cudaMemcpy(h_coefficient, d_coefficient, coefficient_total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/coefficient.bin", h_coefficient, coefficient_total);

    cudaFree(d_audio);
    cudaFree(d_coefficient);
    delete[] h_audio;
    delete[] h_coefficient;
    return 0;
}
