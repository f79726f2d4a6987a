#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kCount = 1500;

inline void checkCuda(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool loadFile(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t n = fread(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return n == v.size();
}

bool saveFile(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t n = fwrite(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return n == v.size();
}

__global__ void invert_affine(const float* maps, float* back) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kCount) return;
    const float* m = maps + 12 * i;
    float a = m[0], b = m[1], c = m[2];
    float d = m[4], e = m[5], f = m[6];
    float g = m[8], h = m[9], k = m[10];
    float inv[3][3] = {{e * k - f * h, c * h - b * k, b * f - c * e},
                       {f * g - d * k, a * k - c * g, c * d - a * f},
                       {d * h - e * g, b * g - a * h, a * e - b * d}};
    float r = 1.0f / (a * inv[0][0] + b * inv[1][0] + c * inv[2][0]);
    for (int row = 0; row < 3; ++row) {
        float x = inv[row][0] * r, y = inv[row][1] * r, z = inv[row][2] * r;
        float* out = back + 12 * i + 4 * row;
        out[0] = x;
        out[1] = y;
        out[2] = z;
        out[3] = -(x * m[3] + y * m[7] + z * m[11]);
    }
}

int main() {
    const size_t maps_elems = (size_t)kCount * 3 * 4;
    std::vector<float> maps(maps_elems);
    std::vector<float> back(maps_elems);
    if (!loadFile("data/maps.bin", maps)) {
        fprintf(stderr, "reading failed\n");
        return 1;
    }

    float *d_maps = nullptr, *d_back = nullptr;
    checkCuda(cudaMalloc(&d_maps, maps_elems * sizeof(float)), "cudaMalloc maps");
    checkCuda(cudaMalloc(&d_back, maps_elems * sizeof(float)), "cudaMalloc back");
    checkCuda(cudaMemcpy(d_maps, maps.data(), maps_elems * sizeof(float), cudaMemcpyHostToDevice), "copy maps");

    const int threads = 128;
    invert_affine<<<(kCount + threads - 1) / threads, threads>>>(d_maps, d_back);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaMemcpy(back.data(), d_back, maps_elems * sizeof(float), cudaMemcpyDeviceToHost), "copy back");

    if (!saveFile("data/back.bin", back)) return 1;
    cudaFree(d_maps);
    cudaFree(d_back);
    return 0;
}
