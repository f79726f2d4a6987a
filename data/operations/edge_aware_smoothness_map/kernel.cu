#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int BATCH = 2;
const int HEIGHT = 50;
const int WIDTH = 61;
const int COUNT = BATCH * HEIGHT * WIDTH * 3;

constexpr int kTileX = 32;
constexpr int kTileY = 8;

// A tile with one extra column and row, stored as (r, g, b, depth).
__global__ void smoothness_tile(const float* __restrict__ depth, const float* __restrict__ image,
                                float* __restrict__ penalty) {
    __shared__ float4 tile[kTileY + 1][kTileX + 1];
    const int x0 = blockIdx.x * kTileX, y0 = blockIdx.y * kTileY;
    const size_t base = (size_t)blockIdx.z * HEIGHT * WIDTH;
    for (int k = threadIdx.y * kTileX + threadIdx.x; k < (kTileY + 1) * (kTileX + 1); k += kTileX * kTileY) {
        const int tx = k % (kTileX + 1), ty = k / (kTileX + 1);
        const int x = min(x0 + tx, WIDTH - 1), y = min(y0 + ty, HEIGHT - 1);
        const size_t at = base + (size_t)y * WIDTH + x;
        tile[ty][tx] = make_float4(image[3 * at], image[3 * at + 1], image[3 * at + 2], depth[at]);
    }
    __syncthreads();
    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    // At the last column or row the copied border makes the depth difference zero.
    const float4 a = tile[threadIdx.y][threadIdx.x];
    const float4 r = tile[threadIdx.y][threadIdx.x + 1];
    const float4 d = tile[threadIdx.y + 1][threadIdx.x];
    const float er = fabsf(a.x - r.x) + fabsf(a.y - r.y) + fabsf(a.z - r.z);
    const float ed = fabsf(a.x - d.x) + fabsf(a.y - d.y) + fabsf(a.z - d.z);
    penalty[base + (size_t)y * WIDTH + x] =
        fabsf(a.w - r.w) * expf(er * (-1.0f / 3.0f)) + fabsf(a.w - d.w) * expf(ed * (-1.0f / 3.0f));
}

int main() {
    std::vector<float> h_depth(BATCH * HEIGHT * WIDTH);
    std::vector<float> h_image(COUNT);
    std::vector<float> h_penalty(BATCH * HEIGHT * WIDTH);
    std::ifstream depth_file("data/depth.bin", std::ios::binary);
    depth_file.read((char*)h_depth.data(), h_depth.size() * sizeof(float));
    std::ifstream image_file("data/image.bin", std::ios::binary);
    image_file.read((char*)h_image.data(), h_image.size() * sizeof(float));
    if (!depth_file || !image_file) {
        std::cerr << "could not read the input files\n";
        return 1;
    }

    float* d_depth;
    float* d_image;
    float* d_penalty;
    cudaMalloc(&d_depth, BATCH * HEIGHT * WIDTH * sizeof(float));
    cudaMalloc(&d_image, COUNT * sizeof(float));
    cudaMalloc(&d_penalty, BATCH * HEIGHT * WIDTH * sizeof(float));
    cudaMemcpy(d_depth, h_depth.data(), BATCH * HEIGHT * WIDTH * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_image, h_image.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid((WIDTH + kTileX - 1) / kTileX, (HEIGHT + kTileY - 1) / kTileY, BATCH);
    smoothness_tile<<<grid, dim3(kTileX, kTileY)>>>(d_depth, d_image, d_penalty);

    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_penalty.data(), d_penalty, BATCH * HEIGHT * WIDTH * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/penalty.bin", std::ios::binary)
        .write((const char*)h_penalty.data(), h_penalty.size() * sizeof(float));

    cudaFree(d_depth);
    cudaFree(d_image);
    cudaFree(d_penalty);
    return 0;
}
