#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void load(const std::string& name, void* buffer, size_t size) {
    std::ifstream stream(name, std::ios::binary);
    stream.read(reinterpret_cast<char*>(buffer), size);
    if (!stream) {
        std::cerr << "cannot read " << name << "\n";
        exit(1);
    }
}

void save(const std::string& name, const void* buffer, size_t size) {
    std::ofstream out(name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(buffer), size);
}
//@given

constexpr int PLANES = 6;
constexpr int ROWS = 40;
constexpr int COLS = 50;

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

// Every thread fills its whole 2 x 2 block, zeros included, with two float2 stores.
__global__ void fill_blocks(const float* __restrict__ values, const int* __restrict__ indices,
                            float2* __restrict__ image) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int line = blockIdx.y * blockDim.y + threadIdx.y;
    if (j >= COLS || line >= PLANES * ROWS) return;
    size_t i = (size_t)line * COLS + j;
    float v = values[i];
    int rel = indices[i] - (2 * (line % ROWS)) * (2 * COLS) - 2 * j;
    float2 top = make_float2(rel == 0 ? v : 0.0f, rel == 1 ? v : 0.0f);
    float2 low = make_float2(rel == 2 * COLS ? v : 0.0f, rel == 2 * COLS + 1 ? v : 0.0f);
    image[(size_t)(2 * line) * COLS + j] = top;
    image[(size_t)(2 * line + 1) * COLS + j] = low;
}

int main() {
    const int values_elems = PLANES * ROWS * COLS;
    const int image_elems = PLANES * ROWS * 2 * COLS * 2;
    float* values = new float[values_elems];
    int* indices = new int[values_elems];
    float* image = new float[image_elems];
    load("data/values.bin", values, values_elems * sizeof(float));
    load("data/indices.bin", indices, values_elems * sizeof(int));

    float* d_values;
    int* d_indices;
    float* d_image;
    cudaMalloc(&d_values, values_elems * sizeof(float));
    cudaMalloc(&d_indices, values_elems * sizeof(int));
    cudaMalloc(&d_image, image_elems * sizeof(float));
    cudaMemcpy(d_values, values, values_elems * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_indices, indices, values_elems * sizeof(int), cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid(ceil_div(COLS, 32), ceil_div(PLANES * ROWS, 8));
    fill_blocks<<<grid, block>>>(d_values, d_indices, (float2*)d_image);

    cudaMemcpy(image, d_image, image_elems * sizeof(float), cudaMemcpyDeviceToHost);
    save("data/image.bin", image, image_elems * sizeof(float));

    cudaFree(d_values);
    cudaFree(d_indices);
    cudaFree(d_image);
    delete[] values;
    delete[] indices;
    delete[] image;
    return 0;
}
