#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxSamples = 1 << 20, kMaxTaps = 1024, kMaxFactor = 64;
constexpr int kThreads = 256, kMaxBlocks = 2048;

__global__ void resample(const float* __restrict__ x, const float* __restrict__ phases, float* __restrict__ y,
                         int outputs, int up, int down, int length, int pitch) {
    extern __shared__ float taps[];  // up rows of `length` taps
    for (int e = threadIdx.x; e < up * pitch; e += kThreads) taps[e] = phases[e];
    __syncthreads();
    for (int m = blockIdx.x * kThreads + threadIdx.x; m < outputs; m += gridDim.x * kThreads) {
        const int position = m * down;
        const int newest = position / up;
        const float* row = taps + (position - newest * up) * pitch;
        const int products = min(length, newest + 1);
        float sum = 0.0f;
        for (int j = 0; j < products; ++j) sum += row[j] * x[newest - j];
        y[m] = sum;
    }
}

static void stop(const char* subject, const char* reason) {
    fprintf(stderr, "%s: %s\n", subject, reason);
    exit(1);
}

static void gpu(cudaError_t status, const char* step) {
    if (status != cudaSuccess) stop(step, cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file) stop(path, "cannot be opened");
    if (fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) stop(path, "wrong length");
    fclose(file);
    return values;
}

static float* toDevice(const std::vector<float>& values) {
    float* device = nullptr;
    gpu(cudaMalloc(&device, values.size() * sizeof(float)), "allocate");
    gpu(cudaMemcpy(device, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice), "upload");
    return device;
}

int main() {
    const auto sizes = readFile<int>("data/sizes.bin", 4);
    const int n = sizes[0], taps = sizes[1], up = sizes[2], down = sizes[3];
    if (n < 1 || n > kMaxSamples || taps < 1 || taps > kMaxTaps) stop("data/sizes.bin", "n or taps out of range");
    if (up < 1 || up > kMaxFactor || down < 1 || down > kMaxFactor) stop("data/sizes.bin", "factors out of range");
    const auto x = readFile<float>("data/x.bin", n);
    const auto h = readFile<float>("data/h.bin", taps);

    const int length = (taps + up - 1) / up, pitch = length | 1;
    std::vector<float> phases(up * pitch, 0.0f);
    for (int k = 0; k < taps; ++k) phases[k % up * pitch + k / up] = h[k];
    const int outputs = (n * up - 1) / down + 1;

    float *dX = toDevice(x), *dPhases = toDevice(phases), *dY = nullptr;
    gpu(cudaMalloc(&dY, outputs * sizeof(float)), "allocate");
    const int blocks = (outputs + kThreads - 1) / kThreads;
    resample<<<blocks < kMaxBlocks ? blocks : kMaxBlocks, kThreads, phases.size() * sizeof(float)>>>(
        dX, dPhases, dY, outputs, up, down, length, pitch);
    gpu(cudaGetLastError(), "launch");
    std::vector<float> y(outputs);
    gpu(cudaMemcpy(y.data(), dY, outputs * sizeof(float), cudaMemcpyDeviceToHost), "download");
    gpu(cudaFree(dX), "free");
    gpu(cudaFree(dPhases), "free");
    gpu(cudaFree(dY), "free");

    FILE* out = fopen("data/y.bin", "wb");
    if (!out || fwrite(y.data(), sizeof(float), outputs, out) != y.size() || fclose(out) != 0) {
        stop("data/y.bin", "cannot be written");
    }
    return 0;
}
