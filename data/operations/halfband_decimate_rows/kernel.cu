#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <string>

void read_floats(const std::string& path, float* data, size_t count) {
    FILE* f = fopen(path.c_str(), "rb");
    if (!f || fread(data, sizeof(float), count, f) != count) {
        fprintf(stderr, "could not open %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

void write_floats(const std::string& path, const float* data, size_t count) {
    FILE* f = fopen(path.c_str(), "wb");
    if (!f || fwrite(data, sizeof(float), count, f) != count) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int ROWS = 12;
constexpr int SAMPLES = 1001;
#define OUT ((SAMPLES + 1) / 2)
#define TILE 256

// Even and odd samples of a tile lie in two shared arrays, so that neighbouring threads meet no bank conflicts.
__global__ void halfband(const float* __restrict__ x, float* __restrict__ y) {
    __shared__ float even[TILE];
    __shared__ float odd[TILE + 3];  // odd[j] is sample 2 * (m0 + j - 2) + 1
    int m0 = blockIdx.x * TILE;
    const float* row = x + (size_t)blockIdx.y * SAMPLES;
    for (int j = threadIdx.x; j < TILE + 3; j += TILE) {
        int t = 2 * (m0 + j - 2) + 1;
        odd[j] = t >= 0 && t < SAMPLES ? row[t] : 0.0f;
    }
    int m = m0 + threadIdx.x;
    even[threadIdx.x] = m < OUT ? row[2 * m] : 0.0f;
    __syncthreads();
    if (m >= OUT) return;
    const float* o = odd + threadIdx.x;
    float sum = 16.0f * even[threadIdx.x] + 9.0f * (o[1] + o[2]) - (o[0] + o[3]);
    y[(size_t)blockIdx.y * OUT + m] = sum * 0.03125f;
}

int main() {
    float* h_x = new float[ROWS * SAMPLES];
    float* h_y = new float[ROWS * OUT];
    read_floats("data/x.bin", h_x, ROWS * SAMPLES);

    float* d_x;
    cudaMalloc(&d_x, ROWS * SAMPLES * sizeof(float));
    float* d_y;
    cudaMalloc(&d_y, ROWS * OUT * sizeof(float));
    cudaMemcpy(d_x, h_x, ROWS * SAMPLES * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid((OUT + TILE - 1) / TILE, ROWS);
    halfband<<<grid, TILE>>>(d_x, d_y);

    cudaMemcpy(h_y, d_y, ROWS * OUT * sizeof(float), cudaMemcpyDeviceToHost);
    write_floats("data/y.bin", h_y, ROWS * OUT);

    cudaFree(d_x);
    cudaFree(d_y);
    delete[] h_x;
    delete[] h_y;
    return 0;
}
