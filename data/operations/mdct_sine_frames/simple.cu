#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int CHANNELS = 2;
static const int BLOCKS = 40;

inline void cuda_ok(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

static bool readAll(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

bool writeAll(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

const int N = 64;

__global__ void mdct(const float* audio, float* coefficient) {
    __shared__ float frame[2 * N];
    int c = blockIdx.y;
    int b = blockIdx.x;
    int k = threadIdx.x;
    const float* x = audio + c * (BLOCKS + 1) * N + b * N;
    for (int n = k; n < 2 * N; n += N) frame[n] = x[n] * sinpif((n + 0.5f) / (2 * N));
    __syncthreads();
    float sum = 0.0f;
    for (int n = 0; n < 2 * N; n++) {
        // pi / N * (n + 0.5 + N / 2) * (k + 0.5) in units of pi / (4 N), reduced to one turn of 8 N units
        int unit = (2 * n + 1 + N) * (2 * k + 1) % (8 * N);
        sum += frame[n] * cospif((float)unit / (4 * N));
    }
    coefficient[(c * BLOCKS + b) * N + k] = sum;
}

int main() {
    const size_t num_audio = CHANNELS * ((BLOCKS + 1) * 64);
    const size_t count_coefficient = CHANNELS * BLOCKS * 64;
    std::vector<float> h_audio(num_audio);
    std::vector<float> h_coefficient(count_coefficient);
    if (!readAll("data/audio.bin", h_audio.data(), num_audio * sizeof(float))) {
        fprintf(stderr, "data/audio.bin: read error\n");
        return 1;
    }

    float* d_audio = nullptr;
    float* d_coefficient = nullptr;
    cuda_ok(cudaMalloc(&d_audio, num_audio * sizeof(float)), "cudaMalloc audio");
    cuda_ok(cudaMalloc(&d_coefficient, count_coefficient * sizeof(float)), "cudaMalloc");
    cuda_ok(cudaMemcpy(d_audio, h_audio.data(), num_audio * sizeof(float), cudaMemcpyHostToDevice), "copy audio");

    mdct<<<dim3(BLOCKS, CHANNELS), N>>>(d_audio, d_coefficient);
    cuda_ok(cudaGetLastError(), "kernel launch");
    cuda_ok(cudaMemcpy(h_coefficient.data(), d_coefficient, count_coefficient * sizeof(float),
            cudaMemcpyDeviceToHost), "copy coefficient");

    if (!writeAll("data/coefficient.bin", h_coefficient.data(), count_coefficient * sizeof(float))) return 1;
    cudaFree(d_audio);
    cudaFree(d_coefficient);
    return 0;
}
