#include <cfloat>
#include <cstdio>
#include <fstream>
#include <vector>

#include <cuda_runtime.h>

#define THREADS 256

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

int main() {
    const int rows = 1009;
    const int cols = 3001;
    std::vector<float> values((size_t)rows * cols);
    const std::streamsize bytes = values.size() * sizeof(float);

    std::ifstream in("data/logits.bin", std::ios::binary | std::ios::ate);
    if (!in) return fail("cannot open data/logits.bin");
    if (in.tellg() != bytes) return fail("data/logits.bin has the wrong size");
    in.seekg(0);
    if (!in.read((char*)values.data(), bytes)) return fail("cannot read data/logits.bin");

    float* logits = nullptr;
    float* probabilities = nullptr;
    cudaError_t status = cudaMalloc(&logits, bytes);
    if (status == cudaSuccess) status = cudaMalloc(&probabilities, bytes);
    if (status == cudaSuccess) status = cudaMemcpy(logits, values.data(), bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess) {
        softmaxRows<<<512, THREADS>>>(logits, probabilities, rows, cols);
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
