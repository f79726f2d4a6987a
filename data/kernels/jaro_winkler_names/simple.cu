#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(x)                                                                   \
    if ((x) != cudaSuccess) {                                                      \
        fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));           \
        exit(1);                                                                   \
    }

__device__ int nameLength(const uint8_t* name, int width) {
    int length = 0;
    while (length < width && name[length] != 0) ++length;
    return length;
}

__global__ void jaroWinkler(const uint8_t* first, const uint8_t* second, int pairs, int width, int* matches,
                            float* similarity) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pairs) return;
    const uint8_t* a = first + (size_t)p * width;
    const uint8_t* b = second + (size_t)p * width;
    int na = nameLength(a, width), nb = nameLength(b, width);
    int window = max(na, nb) / 2 - 1;
    if (window < 0) window = 0;

    unsigned long long usedA = 0, usedB = 0;  // a bit for each matched position
    int m = 0;
    for (int i = 0; i < na; ++i) {
        for (int j = max(0, i - window); j <= min(nb - 1, i + window); ++j) {
            if (a[i] == b[j] && !(usedB >> j & 1)) {
                usedA |= 1ull << i;
                usedB |= 1ull << j;
                ++m;
                break;
            }
        }
    }
    int t = 0;
    for (int i = 0, j = 0; i < na; ++i) {
        if (!(usedA >> i & 1)) continue;
        while (!(usedB >> j & 1)) ++j;
        t += a[i] != b[j++];
    }
    int prefix = 0;
    while (prefix < 4 && prefix < na && prefix < nb && a[prefix] == b[prefix]) ++prefix;
    matches[p] = m;
    similarity[p] = 0.0f;
    if (m > 0) {
        float jaro = ((float)m / na + (float)m / nb + (m - t / 2.0f) / m) / 3.0f;
        similarity[p] = jaro + 0.1f * prefix * (1.0f - jaro);
    }
}

static void fail(const char* what) {
    fprintf(stderr, "error: %s\n", what);
    exit(1);
}

static void* load(const char* path, size_t bytes) {
    void* data = malloc(bytes);
    FILE* f = fopen(path, "rb");
    if (!data || !f || fread(data, 1, bytes, f) != bytes || fgetc(f) != EOF) fail(path);
    fclose(f);
    return data;
}

static void save(const char* path, const void* device, size_t bytes) {
    void* data = malloc(bytes);
    if (!data) fail(path);
    CHECK(cudaMemcpy(data, device, bytes, cudaMemcpyDeviceToHost));
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f) != 0) fail(path);
    free(data);
}

int main(void) {
    int* sizes = (int*)load("data/sizes.bin", 8);
    int pairs = sizes[0], width = sizes[1];
    if (pairs < 1 || pairs > 2000000 || width < 1 || width > 64) fail("sizes");
    size_t bytes = (size_t)pairs * width;
    void* a = load("data/first.bin", bytes);
    void* b = load("data/second.bin", bytes);
    uint8_t *dA, *dB;
    int* matches;
    float* similarity;
    CHECK(cudaMalloc(&dA, bytes));
    CHECK(cudaMalloc(&dB, bytes));
    CHECK(cudaMalloc(&matches, pairs * sizeof(int)));
    CHECK(cudaMalloc(&similarity, pairs * sizeof(float)));
    CHECK(cudaMemcpy(dA, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dB, b, bytes, cudaMemcpyHostToDevice));
    jaroWinkler<<<(pairs + 255) / 256, 256>>>(dA, dB, pairs, width, matches, similarity);
    CHECK(cudaGetLastError());
    save("data/matches.bin", matches, pairs * sizeof(int));
    save("data/similarity.bin", similarity, pairs * sizeof(float));
    return 0;
}
