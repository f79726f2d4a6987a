#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_bytes(const std::string& path, void* dst, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    in.read(static_cast<char*>(dst), bytes);
    if (!in) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void write_bytes(const std::string& path, const void* dst, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(dst), bytes);
}
//@given

#define BATCH 2
#define HEIGHT 50
#define WIDTH 61

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

__device__ float part(const float* depth, const float* image, int here, int there) {
    float e = 0.0f;
    for (int c = 0; c < 3; c++) e += fabsf(image[3 * there + c] - image[3 * here + c]);
    return fabsf(depth[there] - depth[here]) * expf(-e / 3.0f);
}

__global__ void smoothness(const float* depth, const float* image, float* penalty) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    int i = (blockIdx.z * HEIGHT + y) * WIDTH + x;
    float sum = 0.0f;
    if (x + 1 < WIDTH) sum += part(depth, image, i, i + 1);
    if (y + 1 < HEIGHT) sum += part(depth, image, i, i + WIDTH);
    penalty[i] = sum;
}

int main() {
    const size_t depth_bytes = BATCH * HEIGHT * WIDTH * sizeof(float);
    const size_t image_bytes = BATCH * HEIGHT * WIDTH * 3 * sizeof(float);
    float* host_depth = new float[BATCH * HEIGHT * WIDTH];
    float* host_image = new float[BATCH * HEIGHT * WIDTH * 3];
    float* host_penalty = new float[BATCH * HEIGHT * WIDTH];
    read_bytes("data/depth.bin", host_depth, depth_bytes);
    read_bytes("data/image.bin", host_image, image_bytes);

    float* dev_depth;
    float* dev_image;
    float* dev_penalty;
    cudaMalloc(&dev_depth, depth_bytes);
    cudaMalloc(&dev_image, image_bytes);
    cudaMalloc(&dev_penalty, depth_bytes);
    cudaMemcpy(dev_depth, host_depth, depth_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(dev_image, host_image, image_bytes, cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid(DIV_UP(WIDTH, 32), DIV_UP(HEIGHT, 8), BATCH);
    smoothness<<<grid, block>>>(dev_depth, dev_image, dev_penalty);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(host_penalty, dev_penalty, depth_bytes, cudaMemcpyDeviceToHost);
    write_bytes("data/penalty.bin", host_penalty, depth_bytes);

    cudaFree(dev_depth);
    cudaFree(dev_image);
    cudaFree(dev_penalty);
    delete[] host_depth;
    delete[] host_image;
    delete[] host_penalty;
    return 0;
}
