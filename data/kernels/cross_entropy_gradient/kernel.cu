#include <cuda_runtime.h>

#include <cfloat>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxSize = 16384;  // of rows and of classes
constexpr int kIgnore = -100;
constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

__global__ void countValid(const int32_t* labels, int rows, int* valid) {
    int total = 0;
    for (int base = 0; base < rows; base += blockDim.x) {
        int r = base + threadIdx.x;
        total += __syncthreads_count(r < rows && labels[r] != kIgnore);
    }
    if (threadIdx.x == 0) *valid = total;
}

struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

// Reduces over the block and gives the result to every thread. `scratch` may be reused at once.
template <typename Op>
__device__ float blockReduce(float value, Op op, float* scratch) {
    for (int d = 16; d > 0; d >>= 1) {
        value = op(value, __shfl_xor_sync(0xffffffffu, value, d));
    }
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
    __syncthreads();
    value = scratch[0];
    for (int w = 1; w < kWarps; ++w) value = op(value, scratch[w]);
    __syncthreads();
    return value;
}

__global__ void lossAndGrad(const float* __restrict__ logits, const int32_t* __restrict__ labels,
                            const int* __restrict__ valid, float* __restrict__ loss, float* __restrict__ grad,
                            int classes) {
    __shared__ float scratch[kWarps];
    const int row = blockIdx.x;
    const int label = labels[row];
    const float* in = logits + static_cast<size_t>(row) * classes;
    float* out = grad + static_cast<size_t>(row) * classes;

    if (label == kIgnore) {
        for (int c = threadIdx.x; c < classes; c += kThreads) out[c] = 0.0f;
        if (threadIdx.x == 0) loss[row] = 0.0f;
        return;
    }

    float largest = -FLT_MAX;
    for (int c = threadIdx.x; c < classes; c += kThreads) largest = fmaxf(largest, in[c]);
    largest = blockReduce(largest, Max(), scratch);

    float sum = 0.0f;
    for (int c = threadIdx.x; c < classes; c += kThreads) sum += expf(in[c] - largest);
    sum = blockReduce(sum, Sum(), scratch);

    const float scale = 1.0f / *valid;
    const float inverse = 1.0f / sum;
    for (int c = threadIdx.x; c < classes; c += kThreads) {
        float p = expf(in[c] - largest) * inverse;
        out[c] = (p - (c == label ? 1.0f : 0.0f)) * scale;
    }
    if (threadIdx.x == 0) loss[row] = logf(sum) + (largest - in[label]);
}

#define CUDA(call)                                                         \
    do {                                                                   \
        cudaError_t e_ = (call);                                           \
        if (e_ != cudaSuccess) {                                           \
            fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(e_)); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) {
        fprintf(stderr, "%s: expected %zu values of %zu bytes\n", path, count, sizeof(T));
        exit(1);
    }
    return values;
}

static void writeFile(const char* path, const std::vector<float>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    out.close();
    if (!out) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    const std::vector<int32_t> sizes = readFile<int32_t>("data/sizes.bin", 2);
    const int rows = sizes[0], classes = sizes[1];
    if (rows < 1 || rows > kMaxSize || classes < 1 || classes > kMaxSize) {
        fprintf(stderr, "data/sizes.bin: %d x %d is not supported\n", rows, classes);
        return 1;
    }
    std::vector<float> logits = readFile<float>("data/logits.bin", size_t(rows) * classes);
    std::vector<int32_t> labels = readFile<int32_t>("data/labels.bin", rows);
    for (int32_t label : labels) {
        if (label != kIgnore && (label < 0 || label >= classes)) {
            fprintf(stderr, "label %d is out of range\n", label);
            return 1;
        }
    }
    const size_t bytes = logits.size() * sizeof(float);

    float *dLogits, *dLoss, *dGrad;
    int32_t* dLabels;
    int* dValid;
    CUDA(cudaMalloc(&dLogits, bytes));
    CUDA(cudaMalloc(&dGrad, bytes));
    CUDA(cudaMalloc(&dLoss, rows * sizeof(float)));
    CUDA(cudaMalloc(&dLabels, rows * sizeof(int32_t)));
    CUDA(cudaMalloc(&dValid, sizeof(int)));
    CUDA(cudaMemcpy(dLogits, logits.data(), bytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(dLabels, labels.data(), rows * sizeof(int32_t), cudaMemcpyHostToDevice));

    countValid<<<1, 256>>>(dLabels, rows, dValid);
    CUDA(cudaGetLastError());
    lossAndGrad<<<rows, kThreads>>>(dLogits, dLabels, dValid, dLoss, dGrad, classes);
    CUDA(cudaGetLastError());

    std::vector<float> loss(rows);
    CUDA(cudaMemcpy(loss.data(), dLoss, rows * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(logits.data(), dGrad, bytes, cudaMemcpyDeviceToHost));
    for (void* p : std::initializer_list<void*>{dLogits, dGrad, dLoss, dLabels, dValid}) CUDA(cudaFree(p));
    writeFile("data/loss.bin", loss);
    writeFile("data/grad.bin", logits);
    return 0;
}
