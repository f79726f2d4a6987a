#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void read_values(const char* filename, void* data, size_t size) {
    FILE* f = fopen(filename, "rb");
    if (!f || fread(data, 1, size, f) != size) {
        fprintf(stderr, "cannot read %s\n", filename);
        exit(1);
    }
    fclose(f);
}

static void write_values(const char* filename, const void* data, size_t size) {
    FILE* f = fopen(filename, "wb");
    if (!f || fwrite(data, 1, size, f) != size) {
        fprintf(stderr, "cannot write %s\n", filename);
        exit(1);
    }
    fclose(f);
}
//@given

const int BATCH = 2;
const int HEADS = 3;
const int SLOTS = 50;
const int DIM = 32;
const int TOKENS = 20;

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

__global__ void write_slots(const float* fresh, const int* slot, float* updated) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BATCH * TOKENS * HEADS * DIM) return;
    int d = i % DIM;
    int h = i / DIM % HEADS;
    int t = i / (DIM * HEADS) % TOKENS;
    int b = i / (DIM * HEADS * TOKENS);
    int s = slot[b * TOKENS + t];
    if (s >= 0) updated[((b * HEADS + h) * SLOTS + s) * DIM + d] = fresh[i];
}

int main() {
    const size_t cache_total = (size_t)BATCH * HEADS * SLOTS * DIM;
    const size_t fresh_total = (size_t)BATCH * TOKENS * HEADS * DIM;
    const size_t slot_total = (size_t)BATCH * TOKENS;
    float* cache = new float[cache_total];
    float* fresh = new float[fresh_total];
    int* slot = new int[slot_total];
    float* updated = new float[cache_total];
    read_values("data/cache.bin", cache, cache_total * sizeof(float));
    read_values("data/fresh.bin", fresh, fresh_total * sizeof(float));
    read_values("data/slot.bin", slot, slot_total * sizeof(int));

    float* d_cache = nullptr;
    cudaMalloc(&d_cache, cache_total * sizeof(float));
    cudaMemcpy(d_cache, cache, cache_total * sizeof(float), cudaMemcpyHostToDevice);
    float* d_fresh = nullptr;
    cudaMalloc(&d_fresh, fresh_total * sizeof(float));
    cudaMemcpy(d_fresh, fresh, fresh_total * sizeof(float), cudaMemcpyHostToDevice);
    int* d_slot = nullptr;
    cudaMalloc(&d_slot, slot_total * sizeof(int));
    cudaMemcpy(d_slot, slot, slot_total * sizeof(int), cudaMemcpyHostToDevice);
    float* d_updated = nullptr;
    cudaMalloc(&d_updated, cache_total * sizeof(float));

    cudaMemcpy(d_updated, d_cache, cache_total * sizeof(float), cudaMemcpyDeviceToDevice);
    int values = BATCH * TOKENS * HEADS * DIM;
    write_slots<<<CEIL_DIV(values, 256), 256>>>(d_fresh, d_slot, d_updated);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
        return 1;
    }
    cudaMemcpy(updated, d_updated, cache_total * sizeof(float), cudaMemcpyDeviceToHost);

    write_values("data/updated.bin", updated, cache_total * sizeof(float));
    cudaFree(d_cache);
    cudaFree(d_fresh);
    cudaFree(d_slot);
    cudaFree(d_updated);
    delete[] cache;
    delete[] fresh;
    delete[] slot;
    delete[] updated;
    return 0;
}
