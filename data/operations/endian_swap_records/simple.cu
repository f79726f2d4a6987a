#include <cstdio>
#include <cuda_runtime.h>

static const int RECORDS = 2000;

__device__ unsigned int big_endian_word(const unsigned char* p) {
    return ((unsigned int)p[0] << 24) | ((unsigned int)p[1] << 16) | ((unsigned int)p[2] << 8) | (unsigned int)p[3];
}

__global__ void split_packets(const unsigned char* packets, unsigned int* ids, int* kinds, int* offsets,
                              float* values, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n) {
        const unsigned char* p = packets + (size_t)r * 12;
        ids[r] = big_endian_word(p);
        kinds[r] = (p[4] << 8) | p[5];
        int offset = (p[6] << 8) | p[7];
        offsets[r] = offset >= 32768 ? offset - 65536 : offset;
        values[r] = __uint_as_float(big_endian_word(p + 8));
    }
}

int main() {
    const size_t total = RECORDS * 12;
    unsigned char *packets;
    unsigned int *ids;
    int *kinds, *offsets;
    float *values;
    cudaMallocManaged(&packets, total * sizeof(unsigned char));
    cudaMallocManaged(&ids, RECORDS * sizeof(unsigned int));
    cudaMallocManaged(&kinds, RECORDS * sizeof(int));
    cudaMallocManaged(&offsets, RECORDS * sizeof(int));
    cudaMallocManaged(&values, RECORDS * sizeof(float));

    FILE* fp = fopen("data/packets.bin", "rb");
    if (fp == NULL || fread(packets, sizeof(unsigned char), total, fp) != total) {
        fprintf(stderr, "bad input: data/packets.bin\n");
        return 1;
    }
    fclose(fp);

    const int block = 128;
    split_packets<<<(RECORDS + block - 1) / block, block>>>(packets, ids, kinds, offsets, values, RECORDS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out = fopen("data/ids.bin", "wb");
    fwrite(ids, sizeof(unsigned int), RECORDS, out);
    fclose(out);
    out = fopen("data/kinds.bin", "wb");
    fwrite(kinds, sizeof(int), RECORDS, out);
    fclose(out);
    out = fopen("data/offsets.bin", "wb");
    fwrite(offsets, sizeof(int), RECORDS, out);
    fclose(out);
    out = fopen("data/values.bin", "wb");
    fwrite(values, sizeof(float), RECORDS, out);
    fclose(out);
    cudaFree(packets);
    cudaFree(ids);
    cudaFree(kinds);
    cudaFree(offsets);
    cudaFree(values);
    return 0;
}
