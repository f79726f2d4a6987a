#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void inliers(const int* points, const int* plane, int* counts, int n, int planes) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= planes) return;
    const int* p = plane + 5 * k;
    int count = 0;
    for (int i = 0; i < n; ++i) {
        int value = p[0] * points[3 * i] + p[1] * points[3 * i + 1] + p[2] * points[3 * i + 2] + p[3];
        if (value <= p[4] && value >= -p[4]) ++count;
    }
    counts[k] = count;
}

void die(const char* what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

void gpu(cudaError_t status) {
    if (status != cudaSuccess) die(cudaGetErrorString(status));
}

void load(const char* path, std::vector<int>& values) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(values.data(), 4, values.size(), f) != values.size() || fgetc(f) != EOF) die(path);
    fclose(f);
}

void save(const char* path, const int* values, size_t count) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(values, 4, count, f) != count || fclose(f) != 0) die(path);
}

int main() {
    std::vector<int> sizes(2);
    load("data/sizes.bin", sizes);
    int n = sizes[0], planes = sizes[1];
    if (n < 1 || n > 1048576 || planes < 1 || planes > 4096) die("data/sizes.bin: out of range");
    std::vector<int> points(3 * n), plane(5 * planes), counts(planes);
    load("data/points.bin", points);
    load("data/plane.bin", plane);
    int *dPoints, *dPlane, *dCounts;
    gpu(cudaMalloc(&dPoints, points.size() * 4));
    gpu(cudaMalloc(&dPlane, plane.size() * 4));
    gpu(cudaMalloc(&dCounts, counts.size() * 4));
    gpu(cudaMemcpy(dPoints, points.data(), points.size() * 4, cudaMemcpyHostToDevice));
    gpu(cudaMemcpy(dPlane, plane.data(), plane.size() * 4, cudaMemcpyHostToDevice));
    inliers<<<(planes + 31) / 32, 32>>>(dPoints, dPlane, dCounts, n, planes);
    gpu(cudaGetLastError());
    gpu(cudaMemcpy(counts.data(), dCounts, counts.size() * 4, cudaMemcpyDeviceToHost));
    gpu(cudaFree(dPoints));
    gpu(cudaFree(dPlane));
    gpu(cudaFree(dCounts));
    int best[2] = {0, counts[0]};
    for (int k = 1; k < planes; ++k) {
        if (counts[k] > best[1]) best[0] = k, best[1] = counts[k];
    }
    save("data/inliers.bin", counts.data(), counts.size());
    save("data/best.bin", best, 2);
    return 0;
}
