#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

__global__ void assign(const int16_t* points, const int16_t* centers, int* labels, unsigned long long* sums,
                       int* counts, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int label = 0;
    long long best = -1;
    for (int c = 0; c < k; ++c) {
        long long distance = 0;
        for (int a = 0; a < 3; ++a) {
            long long d = points[3 * i + a] - centers[3 * c + a];
            distance += d * d;
        }
        if (best < 0 || distance < best) {
            best = distance;
            label = c;
        }
    }
    labels[i] = label;
    atomicAdd(&counts[label], 1);
    for (int a = 0; a < 3; ++a) {
        // Two's complement: adding a negative number as unsigned wraps to the right sum.
        atomicAdd(&sums[3 * label + a], (unsigned long long)(long long)points[3 * i + a]);
    }
}

bool readFile(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    bool ok = f && fread(data, 1, bytes, f) == bytes && fgetc(f) == EOF;
    if (f) fclose(f);
    if (!ok) fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
    return ok;
}

bool writeFile(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    bool ok = f && fwrite(data, 1, bytes, f) == bytes;
    if (f && fclose(f) != 0) ok = false;
    if (!ok) fprintf(stderr, "%s: cannot be written\n", path);
    return ok;
}

#define GPU(call)                                                  \
    if ((status = (call)) != cudaSuccess) {                        \
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status)); \
        return 2;                                                  \
    }

int main() {
    cudaError_t status;
    int sizes[2];
    if (!readFile("data/sizes.bin", sizes, sizeof(sizes))) return 1;
    int n = sizes[0], k = sizes[1];
    if (n < 1 || n > 4194304 || k < 1 || k > 256) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    std::vector<int16_t> points(3 * (size_t)n), centers(3 * k);
    if (!readFile("data/points.bin", points.data(), points.size() * 2)) return 1;
    if (!readFile("data/centers.bin", centers.data(), centers.size() * 2)) return 1;
    std::vector<int> labels(n), counts(k);
    std::vector<long long> sums(3 * k);

    int16_t *devicePoints, *deviceCenters;
    int *deviceLabels, *deviceCounts;
    unsigned long long* deviceSums;
    GPU(cudaMalloc(&devicePoints, points.size() * 2));
    GPU(cudaMalloc(&deviceCenters, centers.size() * 2));
    GPU(cudaMalloc(&deviceLabels, n * sizeof(int)));
    GPU(cudaMalloc(&deviceCounts, k * sizeof(int)));
    GPU(cudaMalloc(&deviceSums, 3 * k * sizeof(long long)));
    GPU(cudaMemcpy(devicePoints, points.data(), points.size() * 2, cudaMemcpyHostToDevice));
    GPU(cudaMemcpy(deviceCenters, centers.data(), centers.size() * 2, cudaMemcpyHostToDevice));
    GPU(cudaMemset(deviceCounts, 0, k * sizeof(int)));
    GPU(cudaMemset(deviceSums, 0, 3 * k * sizeof(long long)));
    assign<<<(n + 127) / 128, 128>>>(devicePoints, deviceCenters, deviceLabels, deviceSums, deviceCounts, n, k);
    GPU(cudaGetLastError());
    GPU(cudaMemcpy(labels.data(), deviceLabels, n * sizeof(int), cudaMemcpyDeviceToHost));
    GPU(cudaMemcpy(counts.data(), deviceCounts, k * sizeof(int), cudaMemcpyDeviceToHost));
    GPU(cudaMemcpy(sums.data(), deviceSums, 3 * k * sizeof(long long), cudaMemcpyDeviceToHost));
    GPU(cudaFree(devicePoints));
    GPU(cudaFree(deviceCenters));
    GPU(cudaFree(deviceLabels));
    GPU(cudaFree(deviceCounts));
    GPU(cudaFree(deviceSums));
    bool written = writeFile("data/labels.bin", labels.data(), n * sizeof(int)) &&
                   writeFile("data/sums.bin", sums.data(), sums.size() * sizeof(long long)) &&
                   writeFile("data/counts.bin", counts.data(), k * sizeof(int));
    return written ? 0 : 1;
}
