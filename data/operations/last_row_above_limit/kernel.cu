#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

template <typename T>
void read_binary(const std::string& path, T* buffer, size_t n) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(buffer), n * sizeof(T))) {
        std::cerr << "Could not read " << path << std::endl;
        exit(EXIT_FAILURE);
    }
}

template <typename T>
void write_binary(const std::string& path, const T* buffer, size_t n) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), n * sizeof(T));
}
//@given

#define ROWS 150
#define COLS 200
#define CHUNK 128

__global__ void set_start(int* last, int* hits) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < COLS) {
        last[c] = -1;
        hits[c] = 0;
    }
}

// Each block looks at CHUNK rows of 128 columns and merges its findings with atomics.
__global__ void last_above_chunks(const float* __restrict__ x, const float* __restrict__ limit, int* last,
    int* hits) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= COLS) return;
    int r0 = blockIdx.y * CHUNK;
    int r1 = min(r0 + CHUNK, ROWS);
    float bound = limit[c];
    int where = -1, count = 0;
    for (int r = r0; r < r1; ++r) {
        if (x[(size_t)r * COLS + c] > bound) {
            where = r;
            ++count;
        }
    }
    if (count > 0) {
        atomicMax(&last[c], where);
        atomicAdd(&hits[c], count);
    }
}

int main() {
    const size_t elements = (size_t)ROWS * COLS;
    float* h_x = new float[elements];
    read_binary("data/x.bin", h_x, elements);
    float* h_limit = new float[COLS];
    read_binary("data/limit.bin", h_limit, COLS);
    int* h_last = new int[COLS];
    int* h_hits = new int[COLS];

    float* d_x = nullptr;
    float* d_limit;
    int* d_last = nullptr;
    int* d_hits = nullptr;
    cudaMalloc(&d_x, elements * sizeof(float));
    cudaMalloc(&d_limit, COLS * sizeof(float));
    cudaMalloc(&d_last, COLS * sizeof(int));
    cudaMalloc(&d_hits, COLS * sizeof(int));
    cudaMemcpy(d_x, h_x, elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_limit, h_limit, COLS * sizeof(float), cudaMemcpyHostToDevice);

    int groups = (COLS + 128 - 1) / 128;
    set_start<<<groups, 128>>>(d_last, d_hits);
    dim3 grid(groups, (ROWS + CHUNK - 1) / CHUNK);
    last_above_chunks<<<grid, 128>>>(d_x, d_limit, d_last, d_hits);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_last, d_last, COLS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_hits, d_hits, COLS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/last.bin", h_last, COLS);
    write_binary("data/hits.bin", h_hits, COLS);

    cudaFree(d_x);
    cudaFree(d_limit);
    cudaFree(d_last);
    cudaFree(d_hits);
    delete[] h_x;
    delete[] h_limit;
    delete[] h_last;
    delete[] h_hits;
    return 0;
}
