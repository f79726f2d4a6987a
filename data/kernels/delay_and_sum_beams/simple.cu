#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void beam(const float* x, const int* delays, const float* gains, float* y, int mics, int samples) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
    if (t >= samples) return;
    float sum = 0;
    for (int m = 0; m < mics; ++m) {
        int from = t - delays[b * mics + m];
        if (from >= 0) sum += gains[m] * x[(size_t)m * samples + from];
    }
    y[(size_t)b * samples + t] = sum;
}

void stop(const char* what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

void gpu(cudaError_t status) {
    if (status != cudaSuccess) stop(cudaGetErrorString(status));
}

void load(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes || fgetc(f) != EOF) stop(path);
    fclose(f);
}

int main() {
    int sizes[3];
    load("data/sizes.bin", sizes, sizeof(sizes));
    int mics = sizes[0], samples = sizes[1], beams = sizes[2];
    if (mics < 1 || mics > 256 || samples < 1 || samples > 262144 || beams < 1 || beams > 1024) {
        stop("data/sizes.bin: out of range");
    }
    std::vector<float> x((size_t)mics * samples), gains(mics), y((size_t)beams * samples);
    std::vector<int> delays(beams * mics);
    load("data/x.bin", x.data(), x.size() * 4);
    load("data/delays.bin", delays.data(), delays.size() * 4);
    load("data/gains.bin", gains.data(), gains.size() * 4);
    for (int d : delays) {
        if (d < 0 || d > 4095) stop("data/delays.bin: out of range");
    }
    float *dx, *dg, *dy;
    int* dd;
    gpu(cudaMalloc(&dx, x.size() * 4));
    gpu(cudaMalloc(&dg, gains.size() * 4));
    gpu(cudaMalloc(&dd, delays.size() * 4));
    gpu(cudaMalloc(&dy, y.size() * 4));
    gpu(cudaMemcpy(dx, x.data(), x.size() * 4, cudaMemcpyHostToDevice));
    gpu(cudaMemcpy(dg, gains.data(), gains.size() * 4, cudaMemcpyHostToDevice));
    gpu(cudaMemcpy(dd, delays.data(), delays.size() * 4, cudaMemcpyHostToDevice));
    beam<<<dim3((samples + 127) / 128, beams), 128>>>(dx, dd, dg, dy, mics, samples);
    gpu(cudaGetLastError());
    gpu(cudaMemcpy(y.data(), dy, y.size() * 4, cudaMemcpyDeviceToHost));
    gpu(cudaFree(dx));
    gpu(cudaFree(dg));
    gpu(cudaFree(dd));
    gpu(cudaFree(dy));
    FILE* f = fopen("data/y.bin", "wb");
    if (!f || fwrite(y.data(), 4, y.size(), f) != y.size() || fclose(f) != 0) stop("data/y.bin: not written");
    return 0;
}
