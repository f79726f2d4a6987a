#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

inline void require(cudaError_t err, const char* what) {
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

constexpr int COUNT = 1200;

__global__ void cholesky4(const float* a, float* l) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= COUNT) return;
    const float* m = a + 16 * s;
    float* out = l + 16 * s;
    float f[4][4];
    for (int j = 0; j < 4; ++j) {
        float d = m[4 * j + j];
        for (int k = 0; k < j; ++k) d -= f[j][k] * f[j][k];
        f[j][j] = sqrtf(d);
        for (int i = j + 1; i < 4; ++i) {
            float v = m[4 * i + j];
            for (int k = 0; k < j; ++k) v -= f[i][k] * f[j][k];
            f[i][j] = v / f[j][j];
        }
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) out[4 * i + j] = j <= i ? f[i][j] : 0.0f;
    }
}

int main() {
    const size_t n_a = (size_t)COUNT * 4 * 4;
    std::vector<float> host_a(n_a);
    std::vector<float> host_l(n_a);
    if (!loadFile("data/a.bin", host_a)) {
        fprintf(stderr, "reading failed\n");
        return 1;
    }

    float *d_a = nullptr, *d_l = nullptr;
    require(cudaMalloc(&d_a, n_a * sizeof(float)), "cudaMalloc a");
    require(cudaMalloc(&d_l, n_a * sizeof(float)), "cudaMalloc l");
    require(cudaMemcpy(d_a, host_a.data(), n_a * sizeof(float), cudaMemcpyHostToDevice), "copy a");

    cholesky4<<<(COUNT + 127) / 128, 128>>>(d_a, d_l);
    require(cudaGetLastError(), "launch");
    require(cudaMemcpy(host_l.data(), d_l, n_a * sizeof(float), cudaMemcpyDeviceToHost), "copy l");

    if (!saveFile("data/l.bin", host_l)) return 1;
    cudaFree(d_a);
    cudaFree(d_l);
    return 0;
}
