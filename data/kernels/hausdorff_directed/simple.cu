#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// One thread a source point: its nearest target, then one atomic for the farthest of all.
__global__ void farthest(const int16_t* source, const int16_t* target, int sources, int targets,
                         unsigned long long* key) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= sources) return;
    int nearest = 2147483647;
    for (int j = 0; j < targets; ++j) {
        int sum = 0;
        for (int a = 0; a < 3; ++a) {
            int d = source[3 * i + a] - target[3 * j + a];
            sum += d * d;
        }
        if (sum < nearest) nearest = sum;
    }
    atomicMax(key, (unsigned long long)nearest * 65536ULL + (65535 - i));
}

#define CHECK(x)                                                    \
    do {                                                            \
        cudaError_t err = (x);                                      \
        if (err != cudaSuccess) {                                   \
            fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(err)); \
            exit(1);                                                \
        }                                                           \
    } while (0)

static void read_exact(const char* path, void* to, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(to, 1, bytes, f) != bytes || fgetc(f) != EOF) {
        fprintf(stderr, "%s: wrong file\n", path);
        exit(1);
    }
    fclose(f);
}

int main() {
    int sizes[2];
    read_exact("data/sizes.bin", sizes, sizeof(sizes));
    for (int size : sizes) {
        if (size < 1 || size > 65536) {
            fprintf(stderr, "data/sizes.bin: %d is not from 1 to 65536\n", size);
            return 1;
        }
    }
    size_t source_bytes = sizes[0] * 3 * sizeof(int16_t), target_bytes = sizes[1] * 3 * sizeof(int16_t);
    std::vector<char> host_source(source_bytes), host_target(target_bytes);
    read_exact("data/source.bin", host_source.data(), source_bytes);
    read_exact("data/target.bin", host_target.data(), target_bytes);

    int16_t *source, *target;
    unsigned long long *key, best = 0;
    CHECK(cudaMalloc(&source, source_bytes));
    CHECK(cudaMalloc(&target, target_bytes));
    CHECK(cudaMalloc(&key, sizeof(best)));
    CHECK(cudaMemcpy(source, host_source.data(), source_bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(target, host_target.data(), target_bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(key, &best, sizeof(best), cudaMemcpyHostToDevice));
    farthest<<<(sizes[0] + 127) / 128, 128>>>(source, target, sizes[0], sizes[1], key);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&best, key, sizeof(best), cudaMemcpyDeviceToHost));

    int result[2] = {65535 - (int)(best % 65536), (int)(best / 65536)};
    FILE* f = fopen("data/farthest.bin", "wb");
    if (!f || fwrite(result, sizeof(int), 2, f) != 2 || fclose(f) != 0) return 1;
    CHECK(cudaFree(source));
    CHECK(cudaFree(target));
    CHECK(cudaFree(key));
    return 0;
}
