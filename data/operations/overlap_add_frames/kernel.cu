#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

inline void cuda_ok(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}

bool read_file(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

bool write_file(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

constexpr int CLIPS = 2;
constexpr int COUNT = 40;
const int LENGTH = COUNT * 64 + 192;

// Thread x of a block always meets the same four window values w[x], w[x + 64], w[x + 128], w[x + 192].
__global__ void add_frames(const float* __restrict__ frames, float* __restrict__ audio) {
    const int x = threadIdx.x;
    const float* in = frames + (size_t)blockIdx.y * COUNT * 256;
    float w[4];
    for (int q = 0; q < 4; ++q) w[q] = sinpif((x + 64 * q + 0.5f) / 256.0f);
    for (int piece = blockIdx.x * blockDim.y + threadIdx.y; piece < COUNT + 3; piece += gridDim.x * blockDim.y) {
        float sum = 0.0f, weight = 0.0f;
        for (int q = 0; q < 4; ++q) {
            const int f = piece - q;
            if (f >= 0 && f < COUNT) {
                sum = fmaf(w[q], in[f * 256 + x + 64 * q], sum);
                weight = fmaf(w[q], w[q], weight);
            }
        }
        audio[(size_t)blockIdx.y * LENGTH + piece * 64 + x] = sum / fmaxf(weight, 0.05f);
    }
}

int main() {
    const int count_frames = CLIPS * COUNT * 256;
    const int count_audio = CLIPS * LENGTH;
    std::vector<float> host_frames(count_frames);
    std::vector<float> host_audio(count_audio);
    if (!read_file("data/frames.bin", host_frames.data(), count_frames * sizeof(float))) {
        fprintf(stderr, "data/frames.bin: read error\n");
        return 1;
    }

    float* dev_frames = nullptr;
    float* dev_audio = nullptr;
    cuda_ok(cudaMalloc(&dev_frames, count_frames * sizeof(float)), "cudaMalloc");
    cuda_ok(cudaMalloc(&dev_audio, count_audio * sizeof(float)), "cudaMalloc");
    cuda_ok(cudaMemcpy(dev_frames, host_frames.data(), count_frames * sizeof(float),
            cudaMemcpyHostToDevice), "copy frames");

    dim3 block(64, 4);
    dim3 grid((COUNT + 15) / 16, CLIPS);
    add_frames<<<grid, block>>>(dev_frames, dev_audio);
    cuda_ok(cudaGetLastError(), "launch");
    cuda_ok(cudaMemcpy(host_audio.data(), dev_audio, count_audio * sizeof(float), cudaMemcpyDeviceToHost),
            "copy audio");

    if (!write_file("data/audio.bin", host_audio.data(), count_audio * sizeof(float))) return 1;
    cudaFree(dev_frames);
    cudaFree(dev_audio);
    return 0;
}
