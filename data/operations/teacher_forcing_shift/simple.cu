#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define CHECK(call)                                                                         \
    do {                                                                                    \
        cudaError_t status = (call);                                                        \
        if (status != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

static void read_file(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "could not open %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void write_file(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

const int BATCH = 40;
const int LENGTH = 100;

__global__ void shift_tokens(const int* tokens, const int* lengths, int* decoder_input, int* label,
                             int* label_count) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (t > LENGTH) return;
    int n = lengths[b];
    const int* row = tokens + b * LENGTH;
    int out = b * (LENGTH + 1) + t;

    int source = 0;
    if (t == 0) source = 1;
    else if (t <= n) source = row[t - 1];
    decoder_input[out] = source;

    int target = -100;
    if (t < n && row[t] != 3) target = row[t];
    if (t == n) target = 2;
    label[out] = target;
    if (target != -100) atomicAdd(label_count, 1);
}

int main() {
    const int count_tokens = BATCH * LENGTH;
    const int count_decoder_input = BATCH * (LENGTH + 1);
    int *tokens = (int*)malloc(count_tokens * sizeof(int));
    int *lengths = (int*)malloc(BATCH * sizeof(int));
    int *decoder_input = (int*)malloc(count_decoder_input * sizeof(int));
    int *label = (int*)malloc(count_decoder_input * sizeof(int));
    int *label_count = (int*)malloc(1 * sizeof(int));

    read_file("data/tokens.bin", tokens, count_tokens * sizeof(int));
    read_file("data/lengths.bin", lengths, BATCH * sizeof(int));

    int *d_tokens;
    CHECK(cudaMalloc(&d_tokens, count_tokens * sizeof(int)));
    int *d_lengths;
    CHECK(cudaMalloc(&d_lengths, BATCH * sizeof(int)));
    int *d_decoder_input;
    CHECK(cudaMalloc(&d_decoder_input, count_decoder_input * sizeof(int)));
    int *d_label;
    CHECK(cudaMalloc(&d_label, count_decoder_input * sizeof(int)));
    int *d_label_count;
    CHECK(cudaMalloc(&d_label_count, 1 * sizeof(int)));
    CHECK(cudaMemcpy(d_tokens, tokens, count_tokens * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_lengths, lengths, BATCH * sizeof(int), cudaMemcpyHostToDevice));

    CHECK(cudaMemset(d_label_count, 0, sizeof(int)));
    dim3 grid((LENGTH + 1 + 255) / 256, BATCH);
    shift_tokens<<<grid, 256>>>(d_tokens, d_lengths, d_decoder_input, d_label, d_label_count);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(decoder_input, d_decoder_input, count_decoder_input * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(label, d_label, count_decoder_input * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(label_count, d_label_count, 1 * sizeof(int), cudaMemcpyDeviceToHost));
    write_file("data/decoder_input.bin", decoder_input, count_decoder_input * sizeof(int));
    write_file("data/label.bin", label, count_decoder_input * sizeof(int));
    write_file("data/label_count.bin", label_count, 1 * sizeof(int));

    cudaFree(d_tokens);
    cudaFree(d_lengths);
    cudaFree(d_decoder_input);
    cudaFree(d_label);
    cudaFree(d_label_count);
    free(tokens);
    free(lengths);
    free(decoder_input);
    free(label);
    free(label_count);
    return 0;
}
