#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void decode(const uint8_t* codes, const int16_t* predictor, const uint8_t* state, const int* steps,
                       int16_t* samples, int blocks, int bytes) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks) return;
    int value = predictor[b], index = state[b];
    const int change[8] = {-1, -1, -1, -1, 2, 4, 6, 8};
    for (int t = 0; t < 2 * bytes; ++t) {
        int byte = codes[(size_t)b * bytes + t / 2];
        int code = t % 2 ? byte >> 4 : byte & 15;
        int step = steps[index], difference = step >> 3;
        if (code & 4) difference += step;
        if (code & 2) difference += step >> 1;
        if (code & 1) difference += step >> 2;
        value += code & 8 ? -difference : difference;
        if (value > 32767) value = 32767;
        if (value < -32768) value = -32768;
        index += change[code & 7];
        if (index < 0) index = 0;
        if (index > 88) index = 88;
        samples[(size_t)b * 2 * bytes + t] = (int16_t)value;
    }
}

static void require(bool good, const char* message) {
    if (good) return;
    fprintf(stderr, "%s\n", message);
    exit(1);
}

static void gpu(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
static T* load(const char* path, size_t count) {
    T* values;
    gpu(cudaMallocManaged(&values, count * sizeof(T)));
    FILE* f = fopen(path, "rb");
    require(f && fread(values, sizeof(T), count, f) == count && fgetc(f) == EOF, path);
    fclose(f);
    return values;
}

int main() {
    int* sizes = load<int>("data/sizes.bin", 2);
    int blocks = sizes[0], bytes = sizes[1];
    require(blocks >= 1 && blocks <= 262144 && bytes >= 1 && bytes <= 4096, "data/sizes.bin: out of range");
    size_t count = (size_t)blocks * bytes;
    uint8_t* codes = load<uint8_t>("data/codes.bin", count);
    int16_t* predictor = load<int16_t>("data/predictor.bin", blocks);
    uint8_t* state = load<uint8_t>("data/state.bin", blocks);
    int* steps = load<int>("data/steps.bin", 89);
    for (int b = 0; b < blocks; ++b) require(state[b] <= 88, "data/state.bin: a state above 88");
    int16_t* samples;
    gpu(cudaMallocManaged(&samples, 2 * count * sizeof(int16_t)));
    decode<<<(blocks + 63) / 64, 64>>>(codes, predictor, state, steps, samples, blocks, bytes);
    gpu(cudaGetLastError());
    gpu(cudaDeviceSynchronize());
    FILE* f = fopen("data/samples.bin", "wb");
    require(f && fwrite(samples, 2, 2 * count, f) == 2 * count && fclose(f) == 0, "data/samples.bin: not written");
    gpu(cudaFree(sizes));
    gpu(cudaFree(codes));
    gpu(cudaFree(predictor));
    gpu(cudaFree(state));
    gpu(cudaFree(steps));
    gpu(cudaFree(samples));
    return 0;
}
