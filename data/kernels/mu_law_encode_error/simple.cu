#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void encode(const int16_t* x, uint8_t* codes, unsigned long long* error, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int magnitude = x[i] < 0 ? -x[i] : x[i];
    if (magnitude > 32635) magnitude = 32635;
    magnitude += 132;
    int exponent = 0;
    while (magnitude >> (exponent + 8) != 0) ++exponent;
    int mantissa = magnitude >> (exponent + 3) & 15;
    int sign = x[i] < 0 ? 128 : 0;
    codes[i] = 255 - (sign + 16 * exponent + mantissa);
    int decoded = (33 + 2 * mantissa) * (4 << exponent) - 132;
    long long difference = x[i] - (sign ? -decoded : decoded);
    atomicAdd(error, (unsigned long long)(difference * difference));
}

void fail(const char* what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

void gpu(cudaError_t status) {
    if (status != cudaSuccess) fail(cudaGetErrorString(status));
}

void readFile(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes || fgetc(f) != EOF) fail(path);
    fclose(f);
}

void writeFile(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f) != 0) fail(path);
}

int main() {
    int n;
    readFile("data/sizes.bin", &n, sizeof(n));
    if (n < 1 || n > 8388608) fail("data/sizes.bin: n is out of range");
    std::vector<int16_t> x(n);
    std::vector<uint8_t> codes(n);
    readFile("data/x.bin", x.data(), n * 2);
    int16_t* dx;
    uint8_t* dcodes;
    unsigned long long *derror, error = 0;
    gpu(cudaMalloc(&dx, n * 2));
    gpu(cudaMalloc(&dcodes, n));
    gpu(cudaMalloc(&derror, 8));
    gpu(cudaMemcpy(dx, x.data(), n * 2, cudaMemcpyHostToDevice));
    gpu(cudaMemcpy(derror, &error, 8, cudaMemcpyHostToDevice));
    encode<<<(n + 127) / 128, 128>>>(dx, dcodes, derror, n);
    gpu(cudaGetLastError());
    gpu(cudaMemcpy(codes.data(), dcodes, n, cudaMemcpyDeviceToHost));
    gpu(cudaMemcpy(&error, derror, 8, cudaMemcpyDeviceToHost));
    gpu(cudaFree(dx));
    gpu(cudaFree(dcodes));
    gpu(cudaFree(derror));
    writeFile("data/codes.bin", codes.data(), n);
    writeFile("data/squared_error.bin", &error, 8);
    return 0;
}
