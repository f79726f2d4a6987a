#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

const int FRAMES = 10;
const int POINTS = 800;

// A thread turns its point's data into polynomial coefficients once and evaluates all frames by Horner's rule.
__global__ void hermite_frames(const float* __restrict__ p0, const float* __restrict__ m0, const float* __restrict__ p1,
                               const float* __restrict__ m1, const float* __restrict__ t, float* __restrict__ path) {
    __shared__ float times[FRAMES];
    for (int f = threadIdx.x; f < FRAMES; f += blockDim.x) times[f] = t[f];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= POINTS) return;
    const float a = p0[i], b = m0[i];
    const float rise = p1[i] - a;
    const float c = 3.0f * rise - 2.0f * b - m1[i];
    const float d = b + m1[i] - 2.0f * rise;
    for (int f = 0; f < FRAMES; ++f) {
        const float s = times[f];
        path[(size_t)f * POINTS + i] = fmaf(fmaf(fmaf(d, s, c), s, b), s, a);
    }
}

static void readFile(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

void compute(const float* d_p0, const float* d_m0, const float* d_p1,
          const float* d_m1, const float* d_t, float* d_path) {
    hermite_frames<<<(POINTS + 127) / 128, 128>>>(d_p0, d_m0, d_p1, d_m1, d_t, d_path);
    cudaDeviceSynchronize();
}

int main() {
    const size_t path_size = FRAMES * POINTS;
    std::vector<float> p0(POINTS);
    std::vector<float> m0(POINTS);
    std::vector<float> p1(POINTS);
    std::vector<float> m1(POINTS);
    std::vector<float> t(FRAMES);
    std::vector<float> path(path_size);
    readFile("data/p0.bin", p0.data(), POINTS * sizeof(float));
    readFile("data/m0.bin", m0.data(), POINTS * sizeof(float));
    readFile("data/p1.bin", p1.data(), POINTS * sizeof(float));
    readFile("data/m1.bin", m1.data(), POINTS * sizeof(float));
    readFile("data/t.bin", t.data(), FRAMES * sizeof(float));

    float *d_p0, *d_m0, *d_p1, *d_m1, *d_t, *d_path;
    cudaMalloc(&d_p0, POINTS * sizeof(float));
    cudaMalloc(&d_m0, POINTS * sizeof(float));
    cudaMalloc(&d_p1, POINTS * sizeof(float));
    cudaMalloc(&d_m1, POINTS * sizeof(float));
    cudaMalloc(&d_t, FRAMES * sizeof(float));
    cudaMalloc(&d_path, path_size * sizeof(float));
    cudaMemcpy(d_p0, p0.data(), POINTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_m0, m0.data(), POINTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_p1, p1.data(), POINTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_m1, m1.data(), POINTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_t, t.data(), FRAMES * sizeof(float), cudaMemcpyHostToDevice);

    compute(d_p0, d_m0, d_p1, d_m1, d_t, d_path);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "kernel launch failed\n");
        return 1;
    }
    cudaMemcpy(path.data(), d_path, path_size * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* out = fopen("data/path.bin", "wb");
    fwrite(path.data(), sizeof(float), path.size(), out);
    fclose(out);
    cudaFree(d_p0);
    cudaFree(d_m0);
    cudaFree(d_p1);
    cudaFree(d_m1);
    cudaFree(d_t);
    cudaFree(d_path);
    return 0;
}
