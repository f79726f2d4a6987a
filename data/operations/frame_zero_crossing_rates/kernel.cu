#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int CHANNELS = 4;
constexpr int SAMPLES = 5000;

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

static bool write_file(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

const int FRAMES = (SAMPLES - 400) / 160 + 1;
const int WARPS = 8;

// One warp per frame; neighbouring lanes read neighbouring samples and a ballot counts the changes.
__global__ void crossing_rate(const float* __restrict__ audio, float* __restrict__ rate) {
    int id = blockIdx.x * WARPS + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (id >= CHANNELS * FRAMES) return;
    const float* x = audio + (size_t)(id / FRAMES) * SAMPLES + (id % FRAMES) * 160;
    int count = 0;
    for (int start = 1; start < 400; start += 32) {
        int t = start + lane;
        bool changed = t < 400 && (x[t] < 0.0f) != (x[t - 1] < 0.0f);
        count += __popc(__ballot_sync(0xffffffffu, changed));
    }
    if (lane == 0) rate[id] = count / 399.0f;
}

int main() {
    size_t count_audio = CHANNELS * SAMPLES;
    size_t n_rate = CHANNELS * FRAMES;
    std::vector<float> host_audio(count_audio);
    std::vector<float> host_rate(n_rate);
    if (!read_file("data/audio.bin", host_audio.data(), count_audio * sizeof(float))) {
        fprintf(stderr, "could not open data/audio.bin\n");
        return 1;
    }

    float* d_audio = nullptr;
    float* d_rate = nullptr;
    cuda_ok(cudaMalloc(&d_audio, count_audio * sizeof(float)), "cudaMalloc");
    cuda_ok(cudaMalloc(&d_rate, n_rate * sizeof(float)), "cudaMalloc rate");
    cuda_ok(cudaMemcpy(d_audio, host_audio.data(), count_audio * sizeof(float), cudaMemcpyHostToDevice),
            "copy audio");

    crossing_rate<<<(CHANNELS * FRAMES + WARPS - 1) / WARPS, WARPS * 32>>>(d_audio, d_rate);
    cuda_ok(cudaGetLastError(), "launch");
    cuda_ok(cudaMemcpy(host_rate.data(), d_rate, n_rate * sizeof(float), cudaMemcpyDeviceToHost), "copy rate");

    if (!write_file("data/rate.bin", host_rate.data(), n_rate * sizeof(float))) return 1;
    cudaFree(d_audio);
    cudaFree(d_rate);
    return 0;
}
