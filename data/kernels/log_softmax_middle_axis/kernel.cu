#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <cuda_runtime.h>

namespace {

constexpr int kMaxOuter = 256;
constexpr int kMaxClasses = 256;
constexpr int kMaxInner = 16384;
constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 8;

__global__ void logSoftmaxColumns(const float* __restrict__ logits, float* __restrict__ result, int columns,
                                  int classes, int inner) {
    for (int k = blockIdx.x * kThreads + threadIdx.x; k < columns; k += gridDim.x * kThreads) {
        const size_t start = static_cast<size_t>(k / inner) * classes * inner + k % inner;
        const float* in = logits + start;
        float* out = result + start;

        float peak = in[0];
        float sum = 1.0f;  // of exp(logit - peak)
        for (int c = 1; c < classes; ++c) {
            const float value = in[static_cast<size_t>(c) * inner];
            if (value > peak) {
                sum = sum * expf(peak - value) + 1.0f;
                peak = value;
            } else {
                sum += expf(value - peak);
            }
        }

        const float logSum = logf(sum);
        for (int c = 0; c < classes; ++c) {
            const size_t offset = static_cast<size_t>(c) * inner;
            out[offset] = (in[offset] - peak) - logSum;
        }
    }
}

void require(bool condition, const char* message) {
    if (!condition) {
        std::fprintf(stderr, "error: %s\n", message);
        std::exit(EXIT_FAILURE);
    }
}

void require(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

void readAll(const char* path, void* target, size_t bytes) {
    const File file(std::fopen(path, "rb"));
    require(file != nullptr, path);
    require(std::fread(target, 1, bytes, file.get()) == bytes, "an input file is too short");
    require(std::fgetc(file.get()) == EOF, "an input file is too long");
}

void writeAll(const char* path, const void* source, size_t bytes) {
    File file(std::fopen(path, "wb"));
    require(file != nullptr, path);
    require(std::fwrite(source, 1, bytes, file.get()) == bytes, "an output file cannot be written");
    require(std::fclose(file.release()) == 0, "an output file cannot be closed");
}

}  // namespace

int main() {
    int sizes[3];
    readAll("data/sizes.bin", sizes, sizeof(sizes));
    const int outer = sizes[0], classes = sizes[1], inner = sizes[2];
    require(outer >= 1 && outer <= kMaxOuter, "outer is out of range");
    require(classes >= 1 && classes <= kMaxClasses, "classes is out of range");
    require(inner >= 1 && inner <= kMaxInner, "inner is out of range");

    std::vector<float> values(static_cast<size_t>(outer) * classes * inner);
    const size_t bytes = values.size() * sizeof(float);
    readAll("data/logits.bin", values.data(), bytes);

    int device, multiprocessors;
    require(cudaGetDevice(&device));
    require(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));

    float *logits, *result;
    require(cudaMalloc(&logits, bytes));
    require(cudaMalloc(&result, bytes));
    require(cudaMemcpy(logits, values.data(), bytes, cudaMemcpyHostToDevice));
    const int columns = outer * inner;
    const int blocks = std::min((columns + kThreads - 1) / kThreads, kBlocksPerMultiprocessor * multiprocessors);
    logSoftmaxColumns<<<blocks, kThreads>>>(logits, result, columns, classes, inner);
    require(cudaGetLastError());
    require(cudaMemcpy(values.data(), result, bytes, cudaMemcpyDeviceToHost));
    require(cudaFree(logits));
    require(cudaFree(result));

    writeAll("data/log_probabilities.bin", values.data(), bytes);
    return EXIT_SUCCESS;
}
