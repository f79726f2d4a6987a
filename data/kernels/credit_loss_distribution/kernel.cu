#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

static void fatal(const char* what) {
    std::fprintf(stderr, "fatal: %s\n", what);
    std::exit(1);
}

static void guard(cudaError_t status) {
    if (status != cudaSuccess) fatal(cudaGetErrorString(status));
}

constexpr int MAX_UNITS = 2047;

template <typename T>
static std::vector<T> fetch(const char* path, size_t count) {
    std::vector<T> values(count);
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values.data(), sizeof(T), count, file) != count || std::fgetc(file) != EOF) fatal(path);
    std::fclose(file);
    return values;
}

template <typename T>
static T* place(const std::vector<T>& values) {
    T* device;
    guard(cudaMalloc(&device, values.size() * sizeof(T)));
    guard(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static void emit(const char* path, double* device, size_t count) {
    std::vector<double> values(count);
    guard(cudaMemcpy(values.data(), device, count * sizeof(double), cudaMemcpyDeviceToHost));
    guard(cudaFree(device));
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), sizeof(double), count, file) != count || std::fclose(file)) fatal(path);
}

constexpr int THREADS = 256;

__device__ double blockSum(double value, double* scratch) {
    scratch[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
        __syncthreads();
    }
    const double sum = scratch[0];
    __syncthreads();  // scratch may be used again
    return sum;
}

__global__ void convolve(const float* __restrict__ probabilities, const int* __restrict__ losses,
                         double* __restrict__ distribution, double* __restrict__ expectedTail, int obligors,
                         int units) {
    __shared__ double buffers[2][MAX_UNITS + 1], scratch[THREADS];
    for (int j = threadIdx.x; j <= units; j += THREADS) buffers[0][j] = j == 0 ? 1.0 : 0.0;
    __syncthreads();
    for (int k = 0; k < obligors; ++k) {
        const size_t at = static_cast<size_t>(blockIdx.x) * obligors + k;
        const double p = probabilities[at];
        const int loss = min(losses[at], units);
        const double* old = buffers[k & 1];
        double* fresh = buffers[(k + 1) & 1];
        double beyond = 0.0;  // probability of ending past the last unit
        for (int j = threadIdx.x; j <= units; j += THREADS) {
            fresh[j] = (1.0 - p) * old[j] + (j >= loss ? p * old[j - loss] : 0.0);
            if (j + loss > units) beyond += old[j];
        }
        beyond = blockSum(beyond, scratch);
        if (threadIdx.x == units % THREADS) fresh[units] += p * beyond;  // the thread that wrote it
        __syncthreads();
    }
    const double* result = buffers[obligors & 1];
    double tail = 0.0;
    for (int j = threadIdx.x; j <= units; j += THREADS) {
        distribution[static_cast<size_t>(blockIdx.x) * (units + 1) + j] = result[j];
        tail += result[j] * max(j - units / 2, 0);
    }
    tail = blockSum(tail, scratch);
    if (threadIdx.x == 0) expectedTail[blockIdx.x] = tail;
}

int main() {
    const std::vector<int> sizes = fetch<int>("data/sizes.bin", 3);
    const int portfolios = sizes[0], obligors = sizes[1], units = sizes[2];
    if (portfolios < 1 || portfolios > 65535) fatal("portfolios out of range");
    if (obligors < 1 || obligors > 1024 || units < 1 || units > MAX_UNITS) fatal("sizes out of range");
    const size_t cells = static_cast<size_t>(portfolios) * obligors, levels = static_cast<size_t>(units) + 1;
    const std::vector<int> hostLosses = fetch<int>("data/losses.bin", cells);
    for (int loss : hostLosses) {
        if (loss < 0) fatal("data/losses.bin: negative");
    }
    float* probabilities = place(fetch<float>("data/probabilities.bin", cells));
    int* losses = place(hostLosses);
    double *distribution, *tails;
    guard(cudaMalloc(&distribution, portfolios * levels * sizeof(double)));
    guard(cudaMalloc(&tails, portfolios * sizeof(double)));
    convolve<<<portfolios, THREADS>>>(probabilities, losses, distribution, tails, obligors, units);
    guard(cudaGetLastError());
    emit("data/distribution.bin", distribution, portfolios * levels);
    emit("data/expected_tail.bin", tails, portfolios);
    guard(cudaFree(probabilities));
    guard(cudaFree(losses));
    return 0;
}
