#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CLIPS 2
#define SAMPLES 4000

const int FRAMES = (SAMPLES - 256) / 96 + 1;

// Thread n of a block keeps w[n] in a register and serves sample n of several frames.
__global__ void emphasize_and_window(const float* __restrict__ speech, float* __restrict__ frames) {
    const int n = threadIdx.x;
    float s = cospif(n / 127.5f);
    // cos(2a) = 2 cos(a)^2 - 1
    const float w = 0.42f - 0.5f * s + 0.08f * (2.0f * s * s - 1.0f);
    const float* x = speech + blockIdx.y * SAMPLES;
    for (int f = blockIdx.x; f < FRAMES; f += gridDim.x) {
        int t = f * 96 + n;
        float previous = t > 0 ? x[t - 1] : 0.0f;
        frames[(blockIdx.y * FRAMES + f) * 256 + n] = w * (x[t] - 0.97f * previous);
    }
}

int main() {
    float* speech = (float*)malloc(CLIPS * SAMPLES * sizeof(float));
    float* frames = (float*)malloc(CLIPS * FRAMES * 256 * sizeof(float));
    FILE* f = fopen("data/speech.bin", "rb");
    if (!f || fread(speech, sizeof(float), CLIPS * SAMPLES, f) != (size_t)(CLIPS * SAMPLES)) return 1;
    fclose(f);
    float *d_speech, *d_frames;
    cudaMalloc(&d_speech, CLIPS * SAMPLES * sizeof(float));
    cudaMalloc(&d_frames, CLIPS * FRAMES * 256 * sizeof(float));
    cudaMemcpy(d_speech, speech, CLIPS * SAMPLES * sizeof(float), cudaMemcpyHostToDevice);
    dim3 grid(FRAMES < 32 ? FRAMES : 32, CLIPS);
    emphasize_and_window<<<grid, 256>>>(d_speech, d_frames);
    cudaMemcpy(frames, d_frames, CLIPS * FRAMES * 256 * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/frames.bin", "wb");
    fwrite(frames, sizeof(float), CLIPS * FRAMES * 256, f);
    fclose(f);
    return 0;
}
