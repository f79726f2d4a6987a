#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void readFile(const std::string& path, T* dst, size_t size) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(dst), size * sizeof(T))) {
        std::cerr << "Error reading " << path << std::endl;
        exit(EXIT_FAILURE);
    }
}

template <typename T>
void writeFile(const std::string& path, const T* dst, size_t size) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(dst), size * sizeof(T));
}
//@given

#define OUTER 5
#define LENGTH 60
#define INNER 90
#define TX 32
#define TY 8

__global__ void smallest_positive_split(const float* __restrict__ x, float* least, int* index) {
    __shared__ float bests[TY][TX];
    __shared__ int places[TY][TX];
    int tx = threadIdx.x, ty = threadIdx.y;
    int b = blockIdx.x * TX + tx;
    const float* plane = x + (size_t)blockIdx.y * LENGTH * INNER;
    float best = INFINITY;
    int at = LENGTH;
    if (b < INNER) {
        for (int k = ty; k < LENGTH; k += TY) {
            float v = plane[k * INNER + b];
            if (v > 0.0f && v < best) {
                best = v;
                at = k;
            }
        }
    }
    bests[ty][tx] = best;
    places[ty][tx] = at;
    __syncthreads();
    if (ty == 0 && b < INNER) {
        for (int j = 1; j < TY; ++j) {
            float v = bests[j][tx];
            if (v < best || (v == best && places[j][tx] < at)) {
                best = v;
                at = places[j][tx];
            }
        }
        int out = blockIdx.y * INNER + b;
        least[out] = at < LENGTH ? best : 0.0f;
        index[out] = at < LENGTH ? at : -1;
    }
}

int main() {
    const size_t x_count = (size_t)OUTER * LENGTH * INNER;
    const size_t n_least = (size_t)OUTER * INNER;
    float* h_x = new float[x_count];
    readFile("data/x.bin", h_x, x_count);
    float* h_least = new float[n_least];
    int* h_index = new int[n_least];

    float *d_x, *d_least;
    int* d_index = nullptr;
    cudaMalloc(&d_x, x_count * sizeof(float));
    cudaMalloc(&d_least, n_least * sizeof(float));
    cudaMalloc(&d_index, n_least * sizeof(int));
    cudaMemcpy(d_x, h_x, x_count * sizeof(float), cudaMemcpyHostToDevice);

    dim3 threads(TX, TY);
    dim3 blocks((INNER + TX - 1) / TX, OUTER);
    smallest_positive_split<<<blocks, threads>>>(d_x, d_least, d_index);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_least, d_least, n_least * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_index, d_index, n_least * sizeof(int), cudaMemcpyDeviceToHost);
    writeFile("data/least.bin", h_least, n_least);
    writeFile("data/index.bin", h_index, n_least);

    cudaFree(d_x);
    cudaFree(d_least);
    cudaFree(d_index);
    delete[] h_x;
    delete[] h_least;
    delete[] h_index;
    return 0;
}
