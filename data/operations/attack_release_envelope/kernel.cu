#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

#define CHANNELS 20
#define SAMPLES 1000

// A warp owns 32 channels. Tiles of 32 x 32 samples go through shared memory, so that global accesses run along rows
// while each lane follows its own channel.
__global__ void follow_tiles(const float* __restrict__ audio, const float* __restrict__ attack,
                             const float* __restrict__ release, float* __restrict__ envelope) {
    __shared__ float tile[32][33];
    const int lane = threadIdx.x;
    const int first = blockIdx.x * 32;
    const int rows = min(32, CHANNELS - first);
    const float a = lane < rows ? attack[first + lane] : 0.0f;
    const float r = lane < rows ? release[first + lane] : 0.0f;
    float e = 0.0f;
    for (int start = 0; start < SAMPLES; start += 32) {
        const int t = start + lane;
        for (int k = 0; k < rows; ++k) {
            if (t < SAMPLES) tile[k][lane] = audio[(size_t)(first + k) * SAMPLES + t];
        }
        __syncthreads();
        const int width = min(32, SAMPLES - start);
        if (lane < rows) {
            for (int i = 0; i < width; ++i) {
                const float d = fabsf(tile[lane][i]) - e;
                e = fmaf(d > 0.0f ? a : r, d, e);
                tile[lane][i] = e;
            }
        }
        __syncthreads();
        for (int k = 0; k < rows; ++k) {
            if (t < SAMPLES) envelope[(size_t)(first + k) * SAMPLES + t] = tile[k][lane];
        }
        __syncthreads();
    }
}

int main() {
    float* audio;
    float* attack;
    float* release;
    float* envelope;
    cudaMallocManaged(&audio, sizeof(float) * CHANNELS * SAMPLES);
    cudaMallocManaged(&attack, sizeof(float) * CHANNELS);
    cudaMallocManaged(&release, sizeof(float) * CHANNELS);
    cudaMallocManaged(&envelope, sizeof(float) * CHANNELS * SAMPLES);

    std::ifstream in_audio("data/audio.bin", std::ios::binary);
    if (!in_audio.read(reinterpret_cast<char*>(audio), sizeof(float) * CHANNELS * SAMPLES)) {
        std::cerr << "error reading data/audio.bin\n";
        return 1;
    }
    std::ifstream in_attack("data/attack.bin", std::ios::binary);
    if (!in_attack.read(reinterpret_cast<char*>(attack), sizeof(float) * CHANNELS)) {
        std::cerr << "error reading data/attack.bin\n";
        return 1;
    }
    std::ifstream in_release("data/release.bin", std::ios::binary);
    if (!in_release.read(reinterpret_cast<char*>(release), sizeof(float) * CHANNELS)) {
        std::cerr << "error reading data/release.bin\n";
        return 1;
    }

    follow_tiles<<<(CHANNELS + 31) / 32, 32>>>(audio, attack, release, envelope);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << "\n";
        return 1;
    }

    std::ofstream out("data/envelope.bin", std::ios::binary);
    out.write(reinterpret_cast<char*>(envelope), sizeof(float) * CHANNELS * SAMPLES);

    cudaFree(audio);
    cudaFree(attack);
    cudaFree(release);
    cudaFree(envelope);
    return 0;
}
