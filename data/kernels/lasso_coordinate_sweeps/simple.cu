#include <cuda_runtime.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Cyclic coordinate descent of one problem by one thread; the weights live in global memory.
__global__ void lasso(const double* gram, const double* moment, const double* penalty, double* weights,
                      double* objective, int problems, int features, int sweeps) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= problems) return;
    const double* G = gram + (size_t)p * features * features;
    const double* c = moment + (size_t)p * features;
    double* w = weights + (size_t)p * features;
    for (int k = 0; k < features; ++k) w[k] = 0.0;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        for (int k = 0; k < features; ++k) {
            double rest = c[k];
            for (int j = 0; j < features; ++j) {
                if (j != k) rest -= G[k * features + j] * w[j];
            }
            double size = fabs(rest) - penalty[p];
            if (size <= 0.0) {
                w[k] = 0.0;
            } else {
                w[k] = (rest > 0.0 ? size : -size) / G[k * features + k];
            }
        }
    }
    double value = 0.0;
    for (int k = 0; k < features; ++k) {
        double product = 0.0;
        for (int j = 0; j < features; ++j) product += G[k * features + j] * w[j];
        value += 0.5 * w[k] * product - c[k] * w[k] + penalty[p] * fabs(w[k]);
    }
    objective[p] = value;
}

#define EXPECT(condition, text)             \
    do {                                    \
        if (!(condition)) {                 \
            fprintf(stderr, "%s\n", text);  \
            exit(1);                        \
        }                                   \
    } while (0)

#define GPU(call)                                               \
    do {                                                        \
        cudaError_t code = (call);                              \
        EXPECT(code == cudaSuccess, cudaGetErrorString(code));  \
    } while (0)

// Reads exactly `bytes` bytes.
static void* load(const char* path, size_t bytes) {
    void* memory = malloc(bytes);
    FILE* file = fopen(path, "rb");
    EXPECT(memory && file, path);
    EXPECT(fread(memory, 1, bytes, file) == bytes && fgetc(file) == EOF, path);
    fclose(file);
    return memory;
}

static double* loadToDevice(const char* path, size_t count) {
    void* host = load(path, count * sizeof(double));
    double* device;
    GPU(cudaMalloc(&device, count * sizeof(double)));
    GPU(cudaMemcpy(device, host, count * sizeof(double), cudaMemcpyHostToDevice));
    free(host);
    return device;
}

static void store(const char* path, const double* device, size_t count) {
    double* host = (double*)malloc(count * sizeof(double));
    EXPECT(host, "out of memory");
    GPU(cudaMemcpy(host, device, count * sizeof(double), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    EXPECT(file && fwrite(host, sizeof(double), count, file) == count && fclose(file) == 0, path);
    free(host);
}

int main(void) {
    int32_t* sizes = (int32_t*)load("data/sizes.bin", 3 * sizeof(int32_t));
    int problems = sizes[0], features = sizes[1], sweeps = sizes[2];
    EXPECT(problems >= 1 && problems <= 65536, "problems out of range");
    EXPECT(features >= 1 && features <= 128 && sweeps >= 1 && sweeps <= 100, "features or sweeps out of range");
    size_t entries = (size_t)problems * features;
    double* gram = loadToDevice("data/gram.bin", entries * features);
    double* moment = loadToDevice("data/moment.bin", entries);
    double* penalty = loadToDevice("data/penalty.bin", problems);
    double *weights, *objective;
    GPU(cudaMalloc(&weights, entries * sizeof(double)));
    GPU(cudaMalloc(&objective, problems * sizeof(double)));
    lasso<<<(problems + 31) / 32, 32>>>(gram, moment, penalty, weights, objective, problems, features, sweeps);
    GPU(cudaGetLastError());
    GPU(cudaDeviceSynchronize());
    store("data/weights.bin", weights, entries);
    store("data/objective.bin", objective, problems);
    return 0;
}
