#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void load_array(const char* name, void* data, size_t bytes) {
    FILE* f = fopen(name, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", name);
        exit(1);
    }
    fclose(f);
}

void save_array(const char* name, const void* data, size_t bytes) {
    FILE* f = fopen(name, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", name);
        exit(1);
    }
    fclose(f);
}
//@given

static const int ROWS = 60;
static const int COLS = 33;
static const int TOTAL = 400;

__global__ void repeat_rows(const float* x, const int* ends, float* repeated, int* source) {
    int i = blockIdx.x;
    // The source row is the first one whose end lies beyond i.
    int lo = 0, hi = ROWS - 1;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (ends[mid] > i) hi = mid;
        else lo = mid + 1;
    }
    for (int c = threadIdx.x; c < COLS; c += blockDim.x) {
        repeated[(size_t)i * COLS + c] = x[(size_t)lo * COLS + c];
    }
    if (threadIdx.x == 0) source[i] = lo;
}

int main() {
    const size_t x_total = (size_t)ROWS * COLS;
    const size_t repeated_total = (size_t)TOTAL * COLS;
    float* h_x = new float[x_total];
    int* h_ends = new int[ROWS];
    float* h_repeated = new float[repeated_total];
    int* h_source = new int[TOTAL];
    load_array("data/x.bin", h_x, x_total * sizeof(float));
    load_array("data/ends.bin", h_ends, ROWS * sizeof(int));

    float* dev_x = nullptr;
    cudaMalloc(&dev_x, x_total * sizeof(float));
    cudaMemcpy(dev_x, h_x, x_total * sizeof(float), cudaMemcpyHostToDevice);
    int* dev_ends = nullptr;
    cudaMalloc(&dev_ends, ROWS * sizeof(int));
    cudaMemcpy(dev_ends, h_ends, ROWS * sizeof(int), cudaMemcpyHostToDevice);
    float* dev_repeated = nullptr;
    cudaMalloc(&dev_repeated, repeated_total * sizeof(float));
    int* dev_source = nullptr;
    cudaMalloc(&dev_source, TOTAL * sizeof(int));

    repeat_rows<<<TOTAL, 64>>>(dev_x, dev_ends, dev_repeated, dev_source);
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess) {
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(result));
        return 1;
    }
    cudaMemcpy(h_repeated, dev_repeated, repeated_total * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_source, dev_source, TOTAL * sizeof(int), cudaMemcpyDeviceToHost);

    save_array("data/repeated.bin", h_repeated, repeated_total * sizeof(float));
    save_array("data/source.bin", h_source, TOTAL * sizeof(int));
    cudaFree(dev_x);
    cudaFree(dev_ends);
    cudaFree(dev_repeated);
    cudaFree(dev_source);
    delete[] h_x;
    delete[] h_ends;
    delete[] h_repeated;
    delete[] h_source;
    return 0;
}
