#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define GPU(call)                                                                         \
    do {                                                                                  \
        cudaError_t code_ = (call);                                                       \
        if (code_ != cudaSuccess) {                                                       \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(code_)); \
            exit(3);                                                                      \
        }                                                                                 \
    } while (0)

constexpr int MAX_SIZE = 16384;  // of rows and of columns
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr float EPSILON = 1e-5f;

struct Stats {
    float count, mean, m2;
};

__device__ Stats merge(Stats a, Stats b) {
    float n = a.count + b.count;
    if (n == 0.0f) return a;
    float d = b.mean - a.mean;
    float share = b.count / n;
    return {n, a.mean + d * share, a.m2 + b.m2 + d * d * a.count * share};
}

__device__ Stats warpMerge(Stats s) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        Stats other;
        other.count = __shfl_down_sync(0xffffffffu, s.count, offset);
        other.mean = __shfl_down_sync(0xffffffffu, s.mean, offset);
        other.m2 = __shfl_down_sync(0xffffffffu, s.m2, offset);
        s = merge(s, other);
    }
    return s;
}

__global__ void layerNorm(const float* __restrict__ x, const float* __restrict__ gamma,
                          const float* __restrict__ beta, float* __restrict__ y, float* __restrict__ rstdOut,
                          int cols) {
    __shared__ Stats warpStats[WARPS];
    __shared__ float mu, rstd;
    const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;

    Stats s{0.0f, 0.0f, 0.0f};
    for (int c = threadIdx.x; c < cols; c += THREADS) {
        float value = row[c];
        s.count += 1.0f;
        float d = value - s.mean;
        s.mean += d / s.count;
        s.m2 += d * (value - s.mean);
    }
    s = warpMerge(s);
    if (lane == 0) warpStats[warp] = s;
    __syncthreads();
    if (warp == 0) {
        s = lane < WARPS ? warpStats[lane] : Stats{0.0f, 0.0f, 0.0f};
        s = warpMerge(s);
        if (lane == 0) {
            mu = s.mean;
            rstd = rsqrtf(s.m2 / cols + EPSILON);
            rstdOut[blockIdx.x] = rstd;
        }
    }
    __syncthreads();

    float* out = y + static_cast<size_t>(blockIdx.x) * cols;
    for (int c = threadIdx.x; c < cols; c += THREADS) {
        out[c] = (row[c] - mu) * rstd * gamma[c] + beta[c];
    }
}

template <typename T>
static std::vector<T> readArray(const std::string& path, size_t count) {
    std::vector<T> data(count);
    FILE* f = fopen(path.c_str(), "rb");
    bool good = f && fread(data.data(), sizeof(T), count, f) == count && fgetc(f) == EOF;
    if (f) fclose(f);
    if (!good) {
        fprintf(stderr, "%s: expected exactly %zu values\n", path.c_str(), count);
        exit(1);
    }
    return data;
}

static void writeFloats(const std::string& path, const std::vector<float>& data) {
    FILE* f = fopen(path.c_str(), "wb");
    bool good = f && fwrite(data.data(), sizeof(float), data.size(), f) == data.size();
    if (f) good = fclose(f) == 0 && good;
    if (!good) {
        fprintf(stderr, "%s: cannot be written\n", path.c_str());
        exit(2);
    }
}

int main() {
    const std::vector<int> sizes = readArray<int>("data/sizes.bin", 2);
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > MAX_SIZE || cols < 1 || cols > MAX_SIZE) {
        fprintf(stderr, "data/sizes.bin: %d x %d is not supported\n", rows, cols);
        return 1;
    }
    std::vector<float> x = readArray<float>("data/x.bin", size_t(rows) * cols);
    std::vector<float> gamma = readArray<float>("data/gamma.bin", cols);
    std::vector<float> beta = readArray<float>("data/beta.bin", cols);
    std::vector<float> rstd(rows);
    const size_t matrixBytes = x.size() * sizeof(float), rowBytes = cols * sizeof(float);

    float *dX, *dGamma, *dBeta, *dY, *dRstd;
    GPU(cudaMalloc(&dX, matrixBytes));
    GPU(cudaMalloc(&dY, matrixBytes));
    GPU(cudaMalloc(&dGamma, rowBytes));
    GPU(cudaMalloc(&dBeta, rowBytes));
    GPU(cudaMalloc(&dRstd, rows * sizeof(float)));
    GPU(cudaMemcpy(dX, x.data(), matrixBytes, cudaMemcpyHostToDevice));
    GPU(cudaMemcpy(dGamma, gamma.data(), rowBytes, cudaMemcpyHostToDevice));
    GPU(cudaMemcpy(dBeta, beta.data(), rowBytes, cudaMemcpyHostToDevice));

    layerNorm<<<rows, THREADS>>>(dX, dGamma, dBeta, dY, dRstd, cols);
    GPU(cudaGetLastError());
    GPU(cudaMemcpy(x.data(), dY, matrixBytes, cudaMemcpyDeviceToHost));
    GPU(cudaMemcpy(rstd.data(), dRstd, rows * sizeof(float), cudaMemcpyDeviceToHost));
    for (float* p : {dX, dY, dGamma, dBeta, dRstd}) GPU(cudaFree(p));

    writeFloats("data/y.bin", x);
    writeFloats("data/rstd.bin", rstd);
    return 0;
}
