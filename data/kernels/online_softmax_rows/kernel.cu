#include <algorithm>
#include <cfloat>
#include <cstdio>
#include <fstream>
#include <vector>

#include <cuda_runtime.h>

#define THREADS 256
#define MAX_BLOCKS 512
#define MAX_SIZE 16384

struct Pair {
    float m;  // largest logit so far
    float d;  // sum of exp(logit - m)
};

__device__ __forceinline__ Pair join(Pair a, Pair b) {
    float m = fmaxf(a.m, b.m);
    return {m, a.d * expf(a.m - m) + b.d * expf(b.m - m)};
}

__global__ void softmaxRows(const float* __restrict__ logits, float* __restrict__ probabilities, int rows, int cols) {
    __shared__ Pair pairs[THREADS];

    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* in = logits + (size_t)row * cols;
        float* out = probabilities + (size_t)row * cols;

        Pair mine = {-FLT_MAX, 0.0f};
        for (int c = threadIdx.x; c < cols; c += THREADS) {
            mine = join(mine, Pair{in[c], 1.0f});
        }
        pairs[threadIdx.x] = mine;
        __syncthreads();
        for (int half = THREADS / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) {
                pairs[threadIdx.x] = join(pairs[threadIdx.x], pairs[threadIdx.x + half]);
            }
            __syncthreads();
        }

        Pair total = pairs[0];
        float inverse = 1.0f / total.d;
        for (int c = threadIdx.x; c < cols; c += THREADS) {
            out[c] = expf(in[c] - total.m) * inverse;
        }
        __syncthreads();  // all have read pairs[0] before the next row overwrites it
    }
}

static int fail(const char* message) {
    std::fprintf(stderr, "%s\n", message);
    return 1;
}

// False unless the file exists and has exactly this many bytes.
static bool readWhole(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    return in && (size_t)in.tellg() == bytes && in.seekg(0).read((char*)target, bytes);
}

int main() {
    int sizes[2];
    if (!readWhole("data/sizes.bin", sizes, sizeof(sizes))) return fail("data/sizes.bin is not two integers");
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > MAX_SIZE || cols < 1 || cols > MAX_SIZE) return fail("data/sizes.bin: out of range");
    std::vector<float> values((size_t)rows * cols);
    const size_t bytes = values.size() * sizeof(float);
    if (!readWhole("data/logits.bin", values.data(), bytes)) return fail("data/logits.bin has the wrong size");

    float* logits = nullptr;
    float* probabilities = nullptr;
    cudaError_t status = cudaMalloc(&logits, bytes);
    if (status == cudaSuccess) status = cudaMalloc(&probabilities, bytes);
    if (status == cudaSuccess) status = cudaMemcpy(logits, values.data(), bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess) {
        softmaxRows<<<std::min(rows, MAX_BLOCKS), THREADS>>>(logits, probabilities, rows, cols);
        status = cudaGetLastError();
    }
    if (status == cudaSuccess) status = cudaMemcpy(values.data(), probabilities, bytes, cudaMemcpyDeviceToHost);
    if (status != cudaSuccess) return fail(cudaGetErrorString(status));
    cudaFree(logits);
    cudaFree(probabilities);

    std::ofstream out("data/probabilities.bin", std::ios::binary);
    out.write((const char*)values.data(), bytes);
    out.close();
    if (!out) return fail("cannot write data/probabilities.bin");
    return 0;
}
