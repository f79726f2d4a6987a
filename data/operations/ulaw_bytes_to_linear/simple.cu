#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

const int PACKETS = 100;

__global__ void decode(const unsigned char* codes, short* pcm, int* peak) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PACKETS * 160) return;
    int u = ~codes[i] & 0xff;
    int e = (u >> 4) & 7;
    int m = u & 15;
    int size = ((m * 8 + 132) << e) - 132;
    pcm[i] = (short)((u & 0x80) ? -size : size);
    atomicMax(&peak[i / 160], size);
}

int main() {
    unsigned char* codes = (unsigned char*)malloc(PACKETS * 160 * sizeof(unsigned char));
    short* pcm = (short*)malloc(PACKETS * 160 * sizeof(short));
    int* peak = (int*)malloc(PACKETS * sizeof(int));
    FILE* f = fopen("data/codes.bin", "rb");
    if (!f || fread(codes, sizeof(unsigned char), PACKETS * 160, f) != (size_t)(PACKETS * 160)) return 1;
    fclose(f);
    unsigned char *d_codes;
    short *d_pcm;
    int *d_peak;
    cudaMalloc(&d_codes, PACKETS * 160 * sizeof(unsigned char));
    cudaMalloc(&d_pcm, PACKETS * 160 * sizeof(short));
    cudaMalloc(&d_peak, PACKETS * sizeof(int));
    cudaMemcpy(d_codes, codes, PACKETS * 160 * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemset(d_peak, 0, PACKETS * sizeof(int));
    decode<<<(PACKETS * 160 + 255) / 256, 256>>>(d_codes, d_pcm, d_peak);
    cudaMemcpy(pcm, d_pcm, PACKETS * 160 * sizeof(short), cudaMemcpyDeviceToHost);
    cudaMemcpy(peak, d_peak, PACKETS * sizeof(int), cudaMemcpyDeviceToHost);
    f = fopen("data/pcm.bin", "wb");
    fwrite(pcm, sizeof(short), PACKETS * 160, f);
    fclose(f);
    f = fopen("data/peak.bin", "wb");
    fwrite(peak, sizeof(int), PACKETS, f);
    fclose(f);
    cudaFree(d_codes);
    cudaFree(d_pcm);
    cudaFree(d_peak);
    return 0;
}
