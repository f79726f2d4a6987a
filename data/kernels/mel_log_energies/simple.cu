#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void mel(const float* power, const int* starts, const int* offsets, const float* weights, float* energy,
                    int frames, int bins, int mels) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= frames * mels) return;
    int f = e / mels, m = e % mels;
    float sum = 0;
    for (int k = offsets[m]; k < offsets[m + 1]; ++k) {
        sum += weights[k] * power[(size_t)f * bins + starts[m] + k - offsets[m]];
    }
    energy[e] = logf(sum > 1e-10f ? sum : 1e-10f);
}

static void fail(const char* what) {
    fprintf(stderr, "error: %s\n", what);
    exit(1);
}

static void gpu(cudaError_t status) {
    if (status != cudaSuccess) fail(cudaGetErrorString(status));
}

// Reads a file of `bytes` bytes into managed memory.
static void* load(const char* path, size_t bytes) {
    void* data;
    gpu(cudaMallocManaged(&data, bytes));
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes || fgetc(f) != EOF) fail(path);
    fclose(f);
    return data;
}

int main() {
    int* sizes = (int*)load("data/sizes.bin", 4 * sizeof(int));
    int frames = sizes[0], bins = sizes[1], mels = sizes[2], entries = sizes[3];
    if (frames < 1 || frames > 65535 || bins < 1 || bins > 4096) fail("data/sizes.bin: frames or bins");
    if (mels < 1 || mels > 256 || entries < 1 || entries > 65536) fail("data/sizes.bin: mels or entries");
    float* power = (float*)load("data/power.bin", (size_t)frames * bins * sizeof(float));
    int* starts = (int*)load("data/starts.bin", mels * sizeof(int));
    int* offsets = (int*)load("data/offsets.bin", (mels + 1) * sizeof(int));
    float* weights = (float*)load("data/weights.bin", entries * sizeof(float));
    if (offsets[0] != 0 || offsets[mels] != entries) fail("data/offsets.bin: not from 0 to entries");
    for (int m = 0; m < mels; ++m) {
        int length = offsets[m + 1] - offsets[m];
        if (length < 0 || length > bins || starts[m] < 0 || starts[m] > bins - length) fail("data/starts.bin: filter");
    }
    size_t results = (size_t)frames * mels;
    float* energy;
    gpu(cudaMallocManaged(&energy, results * sizeof(float)));
    mel<<<(results + 127) / 128, 128>>>(power, starts, offsets, weights, energy, frames, bins, mels);
    gpu(cudaGetLastError());
    gpu(cudaDeviceSynchronize());
    FILE* f = fopen("data/energy.bin", "wb");
    if (!f || fwrite(energy, sizeof(float), results, f) != results || fclose(f) != 0) fail("data/energy.bin");
    void* buffers[] = {sizes, power, starts, offsets, weights, energy};
    for (void* buffer : buffers) gpu(cudaFree(buffer));
    return 0;
}
