#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call)                                                        \
    {                                                                   \
        cudaError_t e = call;                                           \
        if (e != cudaSuccess) {                                         \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));  \
            exit(1);                                                    \
        }                                                               \
    }

// A thread finds the tensor of its value by bisection and adds the square to it.
__global__ void addSquares(const int* offsets, const float* grad, double* squares, int tensors, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int low = 0, high = tensors;  // offsets[low] <= i < offsets[high]
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (offsets[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    atomicAdd(&squares[low], (double)grad[i] * grad[i]);
}

__global__ void multiply(float* grad, float factor, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) grad[i] *= factor;
}

void* readFile(const char* path, size_t bytes) {
    void* data = malloc(bytes);
    FILE* f = fopen(path, "rb");
    if (!data || !f || fread(data, 1, bytes, f) != bytes || fgetc(f) != EOF) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(f);
    return data;
}

void writeFile(const char* path, const float* data, size_t count) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, sizeof(float), count, f) != count || fclose(f) != 0) {
        fprintf(stderr, "%s: not written\n", path);
        exit(1);
    }
}

int main() {
    int* sizes = (int*)readFile("data/sizes.bin", 8);
    int tensors = sizes[0], count = sizes[1];
    if (tensors < 1 || tensors > 10000 || count < 1 || count > 16000000) return 1;
    int* offsets = (int*)readFile("data/offsets.bin", (tensors + 1) * sizeof(int));
    float* grad = (float*)readFile("data/grad.bin", count * sizeof(float));
    float maxNorm = *(float*)readFile("data/max_norm.bin", sizeof(float));
    if (offsets[0] != 0 || offsets[tensors] != count || !(maxNorm > 0)) return 1;
    for (int k = 0; k < tensors; ++k)
        if (offsets[k] > offsets[k + 1]) return 1;

    int* dOffsets;
    float* dGrad;
    double* dSquares;
    OK(cudaMalloc(&dOffsets, (tensors + 1) * sizeof(int)));
    OK(cudaMalloc(&dGrad, count * sizeof(float)));
    OK(cudaMalloc(&dSquares, tensors * sizeof(double)));
    OK(cudaMemcpy(dOffsets, offsets, (tensors + 1) * sizeof(int), cudaMemcpyHostToDevice));
    OK(cudaMemcpy(dGrad, grad, count * sizeof(float), cudaMemcpyHostToDevice));
    OK(cudaMemset(dSquares, 0, tensors * sizeof(double)));
    addSquares<<<(count + 255) / 256, 256>>>(dOffsets, dGrad, dSquares, tensors, count);
    OK(cudaGetLastError());
    double* squares = (double*)malloc(tensors * sizeof(double));
    float* norms = (float*)malloc(tensors * sizeof(float));
    if (!squares || !norms) return 1;
    OK(cudaMemcpy(squares, dSquares, tensors * sizeof(double), cudaMemcpyDeviceToHost));
    double total = 0;
    for (int k = 0; k < tensors; ++k) {
        total += squares[k];
        norms[k] = (float)sqrt(squares[k]);
    }
    float factor = sqrt(total) > maxNorm ? (float)(maxNorm / sqrt(total)) : 1.0f;
    multiply<<<(count + 255) / 256, 256>>>(dGrad, factor, count);
    OK(cudaGetLastError());
    OK(cudaMemcpy(grad, dGrad, count * sizeof(float), cudaMemcpyDeviceToHost));
    writeFile("data/tensor_norms.bin", norms, tensors);
    writeFile("data/clipped.bin", grad, count);
    return 0;
}
