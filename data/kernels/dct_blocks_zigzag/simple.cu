#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// One thread a coefficient: walks to its zigzag place, then adds 64 products.
__global__ void dct(const uint8_t* image, float* out, int blockRows, int blockCols) {
    long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (e >= 64LL * blockRows * blockCols) return;
    int u = 0, v = 0;
    for (int step = e % 64; step > 0; --step) {
        if ((u + v) % 2 == 0) {  // upwards
            if (v == 7) ++u;
            else if (u == 0) ++v;
            else --u, ++v;
        } else {
            if (u == 7) ++v;
            else if (v == 0) ++u;
            else ++u, --v;
        }
    }
    long long block = e / 64, row = block / blockCols, col = block % blockCols;
    float sum = 0;
    for (int y = 0; y < 8; ++y) {
        for (int x = 0; x < 8; ++x) {
            float pixel = image[(row * 8 + y) * blockCols * 8 + col * 8 + x] - 128.0f;
            sum += pixel * cospif((2 * y + 1) * u / 16.0f) * cospif((2 * x + 1) * v / 16.0f);
        }
    }
    if (u == 0) sum *= 0.70710678f;
    if (v == 0) sum *= 0.70710678f;
    out[e] = sum / 4;
}

void check(bool good, const char* message) {
    if (good) return;
    fprintf(stderr, "%s\n", message);
    exit(1);
}

void gpu(cudaError_t status) { check(status == cudaSuccess, cudaGetErrorString(status)); }

int main() {
    int sizes[2];
    FILE* f = fopen("data/sizes.bin", "rb");
    check(f && fread(sizes, 4, 2, f) == 2 && fgetc(f) == EOF, "data/sizes.bin: expected two values");
    fclose(f);
    check(sizes[0] >= 1 && sizes[0] <= 1024 && sizes[1] >= 1 && sizes[1] <= 1024, "data/sizes.bin: out of range");
    size_t count = 64 * (size_t)sizes[0] * sizes[1];
    std::vector<uint8_t> image(count);
    f = fopen("data/image.bin", "rb");
    check(f && fread(image.data(), 1, count, f) == count && fgetc(f) == EOF, "data/image.bin: wrong length");
    fclose(f);
    uint8_t* deviceImage;
    float* deviceOut;
    gpu(cudaMalloc(&deviceImage, count));
    gpu(cudaMalloc(&deviceOut, count * sizeof(float)));
    gpu(cudaMemcpy(deviceImage, image.data(), count, cudaMemcpyHostToDevice));
    dct<<<(count + 255) / 256, 256>>>(deviceImage, deviceOut, sizes[0], sizes[1]);
    gpu(cudaGetLastError());
    std::vector<float> out(count);
    gpu(cudaMemcpy(out.data(), deviceOut, count * sizeof(float), cudaMemcpyDeviceToHost));
    gpu(cudaFree(deviceImage));
    gpu(cudaFree(deviceOut));
    f = fopen("data/coefficients.bin", "wb");
    check(f && fwrite(out.data(), 4, count, f) == count && fclose(f) == 0, "data/coefficients.bin: not written");
    return 0;
}
