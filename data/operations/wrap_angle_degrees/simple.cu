#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

const int N = 15000;

#define gpuErrchk(x) \
    do { \
        cudaError_t status = x; \
        if (status != cudaSuccess) { \
            fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(status)); \
            return 1; \
        } \
    } while (0)

static void read_bin(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "incomplete file %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void write_bin(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

__global__ void shortest_turn(const float* heading, const float* target, float* turn, int* turns, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float d = target[i] - heading[i];
        int k = 0;
        while (d >= 180.0f) {
            d -= 360.0f;
            k++;
        }
        while (d < -180.0f) {
            d += 360.0f;
            k--;
        }
        turn[i] = d;
        turns[i] = k;
    }
}

int main() {
    float* host_heading = (float*)malloc(N * sizeof(float));
    float* host_target = (float*)malloc(N * sizeof(float));
    float* host_turn = (float*)malloc(N * sizeof(float));
    int* host_turns = (int*)malloc(N * sizeof(int));
    read_bin("data/heading.bin", host_heading, N * sizeof(float));
    read_bin("data/target.bin", host_target, N * sizeof(float));

    float *dev_heading, *dev_target, *dev_turn;
    int* dev_turns;
    gpuErrchk(cudaMalloc(&dev_heading, N * sizeof(float)));
    gpuErrchk(cudaMalloc(&dev_target, N * sizeof(float)));
    gpuErrchk(cudaMalloc(&dev_turn, N * sizeof(float)));
    gpuErrchk(cudaMalloc(&dev_turns, N * sizeof(int)));
    gpuErrchk(cudaMemcpy(dev_heading, host_heading, N * sizeof(float), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(dev_target, host_target, N * sizeof(float), cudaMemcpyHostToDevice));

    int threads = 256;
    int blocks = (N + threads - 1) / threads;
    shortest_turn<<<blocks, threads>>>(dev_heading, dev_target, dev_turn, dev_turns, N);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaMemcpy(host_turn, dev_turn, N * sizeof(float), cudaMemcpyDeviceToHost));
    gpuErrchk(cudaMemcpy(host_turns, dev_turns, N * sizeof(int), cudaMemcpyDeviceToHost));

    write_bin("data/turn.bin", host_turn, N * sizeof(float));
    write_bin("data/turns.bin", host_turns, N * sizeof(int));

    cudaFree(dev_heading);
    cudaFree(dev_target);
    cudaFree(dev_turn);
    cudaFree(dev_turns);
    free(host_heading);
    free(host_target);
    free(host_turn);
    free(host_turns);
    return 0;
}
