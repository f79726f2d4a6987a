#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& path, float* data, size_t size) {
    FILE* f = fopen(path.c_str(), "rb");
    if (f == nullptr || fread(data, 1, size * sizeof(float), f) != size * sizeof(float)) {
        fprintf(stderr, "cannot read %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

void save(const std::string& path, const float* data, size_t size) {
    FILE* f = fopen(path.c_str(), "wb");
    if (f == nullptr || fwrite(data, 1, size * sizeof(float), f) != size * sizeof(float)) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

const int ROWS = 60;
const int COLS = 256;

__global__ void recurrence(const float* decay, const float* x, float* h) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    const float* a = decay + (size_t)r * COLS;
    const float* b = x + (size_t)r * COLS;
    float* out = h + (size_t)r * COLS;
    float state = b[0];
    out[0] = state;
    for (int c = 1; c < COLS; ++c) {
        state = a[c] * state + b[c];
        out[c] = state;
    }
}

int main() {
    const size_t size = (size_t)ROWS * COLS;
    float* h_decay = new float[size];
    load("data/decay.bin", h_decay, size);
    float* h_x = new float[size];
    load("data/x.bin", h_x, size);
    float* h_h = new float[size];

    float *d_decay, *d_x, *d_h;
    cudaMalloc(&d_decay, size * sizeof(float));
    cudaMalloc(&d_x, size * sizeof(float));
    cudaMalloc(&d_h, size * sizeof(float));
    cudaMemcpy(d_decay, h_decay, size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, h_x, size * sizeof(float), cudaMemcpyHostToDevice);

    const int block = 32;
    recurrence<<<(ROWS + block - 1) / block, block>>>(d_decay, d_x, d_h);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    cudaMemcpy(h_h, d_h, size * sizeof(float), cudaMemcpyDeviceToHost);
    save("data/h.bin", h_h, size);

    cudaFree(d_decay);
    cudaFree(d_x);
    cudaFree(d_h);
    delete[] h_decay;
    delete[] h_x;
    delete[] h_h;
    return 0;
}
