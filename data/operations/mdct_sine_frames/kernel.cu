#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kChannels = 2;
constexpr int kBlocks = 40;

const int N = 64;
const int GROUP = 4;

// Four blocks of the signal are transformed together: each cosine from the table is used four times.
__global__ void mdct_group(const float* __restrict__ audio, float* __restrict__ coefficient) {
    __shared__ float cosine[8 * N];
    __shared__ float frame[GROUP][2 * N];
    const int first = blockIdx.x * GROUP;
    const float* x = audio + (size_t)blockIdx.y * (kBlocks + 1) * N;
    for (int i = threadIdx.x; i < 8 * N; i += N) cosine[i] = cospif(i / (4.0f * N));
    for (int i = threadIdx.x; i < GROUP * 2 * N; i += N) {
        int g = i / (2 * N), n = i % (2 * N);
        frame[g][n] = first + g < kBlocks ? x[(first + g) * N + n] * sinpif((n + 0.5f) / (2 * N)) : 0.0f;
    }
    __syncthreads();
    const int k = threadIdx.x;
    const int step = 2 * (2 * k + 1);
    int unit = (N + 1) * (2 * k + 1) % (8 * N);
    float sum[GROUP] = {};
    for (int n = 0; n < 2 * N; ++n) {
        float w = cosine[unit];
        for (int g = 0; g < GROUP; ++g) sum[g] += w * frame[g][n];
        unit = (unit + step) % (8 * N);
    }
    for (int g = 0; g < GROUP && first + g < kBlocks; ++g)
        coefficient[((size_t)blockIdx.y * kBlocks + first + g) * N + k] = sum[g];
}

void run(const float* audio, float* coefficient) {
    dim3 grid((kBlocks + GROUP - 1) / GROUP, kChannels);
    mdct_group<<<grid, N>>>(audio, coefficient);
}

int main() {
    std::vector<float> host_audio(kChannels * ((kBlocks + 1) * 64));
    std::vector<float> host_coefficient(kChannels * kBlocks * 64);
    FILE* file_audio = fopen("data/audio.bin", "rb");
    if (!file_audio || fread(host_audio.data(), sizeof(float), host_audio.size(),
            file_audio) != host_audio.size()) {
        fprintf(stderr, "cannot read data/audio.bin\n");
        return 1;
    }
    fclose(file_audio);

    float* d_audio = nullptr;
    cudaMalloc(&d_audio, kChannels * ((kBlocks + 1) * 64) * sizeof(float));
    float* d_coefficient = nullptr;
    cudaMalloc(&d_coefficient, kChannels * kBlocks * 64 * sizeof(float));
    cudaMemcpy(d_audio, host_audio.data(), kChannels * ((kBlocks + 1) * 64) * sizeof(float),
            cudaMemcpyHostToDevice);

    run(d_audio, d_coefficient);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "kernel failed\n");
        return 1;
    }

    cudaMemcpy(host_coefficient.data(), d_coefficient, kChannels * kBlocks * 64 * sizeof(float),
            cudaMemcpyDeviceToHost);
    FILE* out = fopen("data/coefficient.bin", "wb");
    fwrite(host_coefficient.data(), sizeof(float), host_coefficient.size(), out);
    fclose(out);
    cudaFree(d_audio);
    cudaFree(d_coefficient);
    return 0;
}
