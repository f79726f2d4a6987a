#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

const int BATCH = 3;
const int LENGTH = 40;
const int WIDTH = 96;

const int CHUNK = 16;

// A block handles up to 16 sequences at one position t: the position code is computed once for all of them.
__global__ void embed_position(const int* __restrict__ ids, const int* __restrict__ segment,
                               const float* __restrict__ token_table, const float* __restrict__ segment_table,
                               float* __restrict__ embedding) {
    const int t = blockIdx.x;
    const int first = blockIdx.y * CHUNK;
    const int last = min(first + CHUNK, BATCH);
    const float p = (t & 63) * 0.015625f;
    for (int j = threadIdx.x; j < WIDTH; j += blockDim.x) {
        float s = p + (float)j / WIDTH;
        s -= floorf(s);
        const float code = fabsf(2.0f * s - 1.0f) - 0.5f;
        const float coded[2] = {segment_table[j] + code, segment_table[WIDTH + j] + code};
        for (int b = first; b < last; ++b) {
            const int place = b * LENGTH + t;
            const int id = ids[place];
            const float value = token_table[id * WIDTH + j] + (segment[place] == 0 ? coded[0] : coded[1]);
            embedding[(size_t)place * WIDTH + j] = id == 0 ? 0.0f : value;
        }
    }
}

int main() {
    int* h_ids = (int*)malloc(BATCH * LENGTH * sizeof(int));
    int* h_segment = (int*)malloc(BATCH * LENGTH * sizeof(int));
    float* h_token_table = (float*)malloc(3000 * WIDTH * sizeof(float));
    float* h_segment_table = (float*)malloc(2 * WIDTH * sizeof(float));
    float* h_embedding = (float*)malloc(BATCH * LENGTH * WIDTH * sizeof(float));
    FILE* f = fopen("data/ids.bin", "rb");
    if (!f || fread(h_ids, sizeof(int), BATCH * LENGTH, f) != (size_t)(BATCH * LENGTH)) return 1;
    fclose(f);
    f = fopen("data/segment.bin", "rb");
    if (!f || fread(h_segment, sizeof(int), BATCH * LENGTH, f) != (size_t)(BATCH * LENGTH)) return 1;
    fclose(f);
    f = fopen("data/token_table.bin", "rb");
    if (!f || fread(h_token_table, sizeof(float), 3000 * WIDTH, f) != (size_t)(3000 * WIDTH)) return 1;
    fclose(f);
    f = fopen("data/segment_table.bin", "rb");
    if (!f || fread(h_segment_table, sizeof(float), 2 * WIDTH, f) != (size_t)(2 * WIDTH)) return 1;
    fclose(f);
    int *d_ids, *d_segment;
    float *d_token_table, *d_segment_table, *d_embedding;
    cudaMalloc(&d_ids, BATCH * LENGTH * sizeof(int));
    cudaMalloc(&d_segment, BATCH * LENGTH * sizeof(int));
    cudaMalloc(&d_token_table, 3000 * WIDTH * sizeof(float));
    cudaMalloc(&d_segment_table, 2 * WIDTH * sizeof(float));
    cudaMalloc(&d_embedding, BATCH * LENGTH * WIDTH * sizeof(float));
    cudaMemcpy(d_ids, h_ids, BATCH * LENGTH * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_segment, h_segment, BATCH * LENGTH * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_token_table, h_token_table, 3000 * WIDTH * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_segment_table, h_segment_table, 2 * WIDTH * sizeof(float), cudaMemcpyHostToDevice);
    dim3 grid(LENGTH, (BATCH + CHUNK - 1) / CHUNK);
    embed_position<<<grid, 128>>>(d_ids, d_segment, d_token_table, d_segment_table, d_embedding);
    cudaMemcpy(h_embedding, d_embedding, BATCH * LENGTH * WIDTH * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/embedding.bin", "wb");
    fwrite(h_embedding, sizeof(float), BATCH * LENGTH * WIDTH, f);
    fclose(f);
    cudaFree(d_ids);
    cudaFree(d_segment);
    cudaFree(d_token_table);
    cudaFree(d_segment_table);
    cudaFree(d_embedding);
    return 0;
}
