#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// A channel a thread: integrators at the full rate, combs after the decimation, all modulo 2^64.
__global__ void cic(const int16_t* x, long long* y, int channels, int outputs, int rate, int stages) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    unsigned long long sums[6] = {}, last[6] = {};
    const int16_t* in = x + (size_t)c * outputs * rate;
    for (int m = 0; m < outputs; ++m) {
        for (int j = 0; j < rate; ++j) {
            unsigned long long value = (unsigned long long)(long long)in[(size_t)m * rate + j];
            for (int s = 0; s < stages; ++s) {
                sums[s] += value;
                value = sums[s];
            }
        }
        unsigned long long value = sums[stages - 1];
        for (int s = 0; s < stages; ++s) {
            unsigned long long difference = value - last[s];
            last[s] = value;
            value = difference;
        }
        y[(size_t)c * outputs + m] = (long long)value;
    }
}

void require(bool condition, const char* message) {
    if (!condition) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
}

void gpu(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

int main() {
    int sizes[4];
    FILE* file = fopen("data/sizes.bin", "rb");
    require(file && fread(sizes, 4, 4, file) == 4 && fgetc(file) == EOF, "data/sizes.bin: expected four values");
    fclose(file);
    int channels = sizes[0], outputs = sizes[1], rate = sizes[2], stages = sizes[3];
    require(channels >= 1 && channels <= 1024 && outputs >= 1 && outputs <= 65536, "data/sizes.bin: out of range");
    require(rate >= 2 && rate <= 256 && stages >= 1 && stages <= 6, "data/sizes.bin: out of range");
    size_t samples = (size_t)channels * outputs * rate, results = (size_t)channels * outputs;
    std::vector<int16_t> x(samples);
    std::vector<long long> y(results);
    file = fopen("data/x.bin", "rb");
    require(file && fread(x.data(), 2, samples, file) == samples && fgetc(file) == EOF, "data/x.bin: wrong length");
    fclose(file);

    int16_t* dx;
    long long* dy;
    gpu(cudaMalloc(&dx, samples * 2));
    gpu(cudaMalloc(&dy, results * 8));
    gpu(cudaMemcpy(dx, x.data(), samples * 2, cudaMemcpyHostToDevice));
    cic<<<(channels + 31) / 32, 32>>>(dx, dy, channels, outputs, rate, stages);
    gpu(cudaGetLastError());
    gpu(cudaMemcpy(y.data(), dy, results * 8, cudaMemcpyDeviceToHost));
    gpu(cudaFree(dx));
    gpu(cudaFree(dy));
    file = fopen("data/y.bin", "wb");
    require(file && fwrite(y.data(), 8, results, file) == results && fclose(file) == 0, "data/y.bin: not written");
    return 0;
}
