#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxChannels = 8192, kMaxSamples = 262144;
constexpr int kTile = 32;

struct Settings {
    float attack, release, threshold, ratio;
};

__global__ void compress(const float* __restrict__ x, float* __restrict__ y, int channels, int samples, Settings s) {
    __shared__ float tile[kTile][kTile + 1];
    const int first = blockIdx.x * kTile, lane = threadIdx.x;
    const int present = min(kTile, channels - first);
    const float exponent = 1.0f / s.ratio - 1.0f, perThreshold = 1.0f / s.threshold;
    float envelope = 0.0f;
    for (int begin = 0; begin < samples; begin += kTile) {
        const bool inside = begin + lane < samples;
        for (int r = 0; r < kTile; ++r) {
            const size_t at = static_cast<size_t>(first + r) * samples + begin + lane;
            tile[r][lane] = inside && r < present ? x[at] : 0.0f;
        }
        __syncwarp();
        for (int t = 0; t < kTile; ++t) {
            const float value = tile[lane][t], loudness = fabsf(value);
            envelope += (loudness > envelope ? s.attack : s.release) * (loudness - envelope);
            if (envelope > s.threshold) tile[lane][t] = value * exp2f(exponent * log2f(envelope * perThreshold));
        }
        __syncwarp();
        for (int r = 0; r < present; ++r) {
            if (inside) y[static_cast<size_t>(first + r) * samples + begin + lane] = tile[r][lane];
        }
        __syncwarp();
    }
}

static void orDie(bool good, const char* what, const char* why) {
    if (good) return;
    fprintf(stderr, "%s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

#define GPU(call)                                                            \
    do {                                                                     \
        const cudaError_t error = (call);                                    \
        orDie(error == cudaSuccess, #call, cudaGetErrorString(error));       \
    } while (0)

static void readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    orDie(file != nullptr, path, "cannot be opened");
    const bool exact = fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF;
    fclose(file);
    orDie(exact, path, "has another length than expected");
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int channels = sizes[0], samples = sizes[1];
    orDie(channels >= 1 && channels <= kMaxChannels, "data/sizes.bin", "channels out of range");
    orDie(samples >= 1 && samples <= kMaxSamples, "data/sizes.bin", "samples out of range");
    Settings settings;
    readFile("data/settings.bin", &settings, sizeof settings);
    const bool sane = settings.threshold > 0.0f && settings.ratio >= 1.0f && settings.attack >= 0.0f;
    orDie(sane && settings.release >= 0.0f, "data/settings.bin", "not a compressor's settings");
    const size_t count = static_cast<size_t>(channels) * samples, bytes = count * sizeof(float);
    std::vector<float> audio(count);
    readFile("data/x.bin", audio.data(), bytes);

    float *x, *y;
    GPU(cudaMalloc(&x, bytes));
    GPU(cudaMalloc(&y, bytes));
    GPU(cudaMemcpy(x, audio.data(), bytes, cudaMemcpyHostToDevice));
    compress<<<(channels + kTile - 1) / kTile, kTile>>>(x, y, channels, samples, settings);
    GPU(cudaGetLastError());
    GPU(cudaMemcpy(audio.data(), y, bytes, cudaMemcpyDeviceToHost));
    GPU(cudaFree(x));
    GPU(cudaFree(y));

    FILE* out = fopen("data/y.bin", "wb");
    orDie(out && fwrite(audio.data(), sizeof(float), count, out) == count, "data/y.bin", "cannot be written");
    orDie(fclose(out) == 0, "data/y.bin", "cannot be closed");
    return 0;
}
