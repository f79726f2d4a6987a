#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_file(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(static_cast<char*>(data), bytes)) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void store_file(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
}
//@given

#define ROWS 50
#define COLS 200
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

__global__ void srelu_kernel(const float* x, const float* params, float* y) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (col >= COLS) return;
    float tr = params[col];
    float ar = params[COLS + col];
    float tl = params[2 * COLS + col];
    float al = params[3 * COLS + col];
    size_t idx = (size_t)row * COLS + col;
    float v = x[idx];
    if (v >= tr) v = tr + ar * (v - tr);
    else if (v <= tl) v = tl + al * (v - tl);
    y[idx] = v;
}

int main(void) {
    const int numel = ROWS * COLS;
    const int params_count = 4 * COLS;
    float* x = new float[numel];
    float* params = new float[params_count];
    float* y = new float[numel];
    load_file("data/x.bin", x, numel * sizeof(float));
    load_file("data/params.bin", params, params_count * sizeof(float));

    float *d_x, *d_params, *d_y;
    cudaMalloc(&d_x, numel * sizeof(float));
    cudaMalloc(&d_params, params_count * sizeof(float));
    cudaMalloc(&d_y, numel * sizeof(float));
    cudaMemcpy(d_x, x, numel * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_params, params, params_count * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(128);
    dim3 grid(CEIL_DIV(COLS, 128), ROWS);
    srelu_kernel<<<grid, block>>>(d_x, d_params, d_y);
    cudaError_t rc = cudaDeviceSynchronize();
    if (rc != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(rc) << std::endl;
        return 1;
    }

    cudaMemcpy(y, d_y, numel * sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/y.bin", y, numel * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_params);
    cudaFree(d_y);
    delete[] x;
    delete[] params;
    delete[] y;
    return 0;
}
