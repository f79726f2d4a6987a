#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA_CALL(expr) do { cudaError_t e = (expr); if (e != cudaSuccess) { \
    fprintf(stderr, "CUDA error %s in line %d\n", cudaGetErrorString(e), __LINE__); exit(EXIT_FAILURE); } } while (0)

#define RECORDS 150
#define DIGITS 64

const int BYTES = DIGITS / 2;

__device__ int hex_value(unsigned char ch) {
    if (ch >= '0' && ch <= '9') return ch - '0';
    if (ch >= 'a' && ch <= 'f') return ch - 'a' + 10;
    if (ch >= 'A' && ch <= 'F') return ch - 'A' + 10;
    return -1;
}

__global__ void decode_hex(const unsigned char* text, unsigned char* bytes, int* invalid) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= RECORDS * BYTES) return;
    int high = hex_value(text[2 * i]);
    int low = hex_value(text[2 * i + 1]);
    int errors = (high < 0) + (low < 0);
    if (errors > 0) atomicAdd(&invalid[i / BYTES], errors);
    bytes[i] = (unsigned char)(max(high, 0) * 16 + max(low, 0));
}

int main() {
    const size_t text_bytes = RECORDS * DIGITS * sizeof(unsigned char);
    const size_t bytes_bytes = RECORDS * BYTES * sizeof(unsigned char);
    const size_t invalid_bytes = RECORDS * sizeof(int);
    unsigned char *text = (unsigned char*)malloc(text_bytes);
    unsigned char *bytes = (unsigned char*)malloc(bytes_bytes);
    int *invalid = (int*)malloc(invalid_bytes);

    FILE* in_text = fopen("data/text.bin", "rb");
    if (!in_text || fread(text, sizeof(unsigned char), RECORDS * DIGITS, in_text) != (size_t)(RECORDS * DIGITS)) {
        fprintf(stderr, "data/text.bin: read error\n");
        return 1;
    }
    fclose(in_text);

    unsigned char *dev_text;
    unsigned char *dev_bytes;
    int *dev_invalid;
    CUDA_CALL(cudaMalloc(&dev_text, text_bytes));
    CUDA_CALL(cudaMalloc(&dev_bytes, bytes_bytes));
    CUDA_CALL(cudaMalloc(&dev_invalid, invalid_bytes));
    CUDA_CALL(cudaMemcpy(dev_text, text, text_bytes, cudaMemcpyHostToDevice));

    CUDA_CALL(cudaMemset(dev_invalid, 0, RECORDS * sizeof(int)));
    decode_hex<<<(RECORDS * BYTES + 255) / 256, 256>>>(dev_text, dev_bytes, dev_invalid);
    CUDA_CALL(cudaGetLastError());
    CUDA_CALL(cudaDeviceSynchronize());

    CUDA_CALL(cudaMemcpy(bytes, dev_bytes, bytes_bytes, cudaMemcpyDeviceToHost));
    CUDA_CALL(cudaMemcpy(invalid, dev_invalid, invalid_bytes, cudaMemcpyDeviceToHost));
    FILE* out_bytes = fopen("data/bytes.bin", "wb");
    if (!out_bytes || fwrite(bytes, sizeof(unsigned char), RECORDS * BYTES,
            out_bytes) != (size_t)(RECORDS * BYTES)) {
        fprintf(stderr, "cannot write data/bytes.bin\n");
        return 1;
    }
    fclose(out_bytes);
    FILE* out_invalid = fopen("data/invalid.bin", "wb");
    if (!out_invalid || fwrite(invalid, sizeof(int), RECORDS, out_invalid) != (size_t)(RECORDS)) {
        fprintf(stderr, "cannot write data/invalid.bin\n");
        return 1;
    }
    fclose(out_invalid);

    cudaFree(dev_text);
    cudaFree(dev_bytes);
    cudaFree(dev_invalid);
    free(text);
    free(bytes);
    free(invalid);
    return 0;
}
