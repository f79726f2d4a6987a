#include <cstdio>
#include <cuda_runtime.h>

#define N 5000

__global__ void to_rgb565(const unsigned char* rgb, unsigned short* packed, int* error, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    int r5 = (r * 31 + 127) / 255;
    int g6 = (g * 63 + 127) / 255;
    int b5 = (b * 31 + 127) / 255;
    packed[i] = (unsigned short)((r5 << 11) | (g6 << 5) | b5);
    int lost = abs(r - ((r5 << 3) | (r5 >> 2)));
    lost += abs(g - ((g6 << 2) | (g6 >> 4)));
    lost += abs(b - ((b5 << 3) | (b5 >> 2)));
    error[i] = lost;
}

int main() {
    const size_t n = N * 3;
    unsigned char *rgb;
    unsigned short *packed;
    int *error;
    cudaMallocManaged(&rgb, n * sizeof(unsigned char));
    cudaMallocManaged(&packed, N * sizeof(unsigned short));
    cudaMallocManaged(&error, N * sizeof(int));

    FILE* f = fopen("data/rgb.bin", "rb");
    if (f == NULL || fread(rgb, sizeof(unsigned char), n, f) != n) {
        fprintf(stderr, "bad input: data/rgb.bin\n");
        return 1;
    }
    fclose(f);

    int threads = 256;
    to_rgb565<<<(N + threads - 1) / threads, threads>>>(rgb, packed, error, N);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out = fopen("data/packed.bin", "wb");
    fwrite(packed, sizeof(unsigned short), N, out);
    fclose(out);
    out = fopen("data/error.bin", "wb");
    fwrite(error, sizeof(int), N, out);
    fclose(out);
    cudaFree(rgb);
    cudaFree(packed);
    cudaFree(error);
    return 0;
}
