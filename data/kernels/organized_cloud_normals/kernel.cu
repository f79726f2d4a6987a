#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <vector>

constexpr int kMaxSide = 2048;
constexpr int kBlockX = 32, kBlockY = 8;
constexpr int kTileX = kBlockX + 2, kTileY = kBlockY + 2;

__global__ void normalsFromNeighbors(const float* __restrict__ cloud, float* __restrict__ normals, int height,
                                     int width) {
    __shared__ float px[kTileY][kTileX], py[kTileY][kTileX], pz[kTileY][kTileX];
    const int u0 = blockIdx.x * kBlockX - 1, v0 = blockIdx.y * kBlockY - 1;
    for (int e = threadIdx.y * kBlockX + threadIdx.x; e < kTileX * kTileY; e += kBlockX * kBlockY) {
        const int row = e / kTileX, col = e % kTileX;
        const int v = v0 + row, u = u0 + col;
        const bool inside = v >= 0 && v < height && u >= 0 && u < width;
        const float* point = cloud + 3 * (inside ? v * width + u : 0);
        px[row][col] = point[0];
        py[row][col] = point[1];
        pz[row][col] = inside ? point[2] : 0.0f;
    }
    __syncthreads();

    const int u = u0 + 1 + threadIdx.x, v = v0 + 1 + threadIdx.y;
    if (u >= width || v >= height) return;
    const int c = threadIdx.x + 1, r = threadIdx.y + 1;
    float nx = 0.0f, ny = 0.0f, nz = 0.0f;
    if (pz[r][c] > 0.0f && pz[r][c - 1] > 0.0f && pz[r][c + 1] > 0.0f && pz[r - 1][c] > 0.0f && pz[r + 1][c] > 0.0f) {
        const float ax = px[r][c + 1] - px[r][c - 1], bx = px[r + 1][c] - px[r - 1][c];
        const float ay = py[r][c + 1] - py[r][c - 1], by = py[r + 1][c] - py[r - 1][c];
        const float az = pz[r][c + 1] - pz[r][c - 1], bz = pz[r + 1][c] - pz[r - 1][c];
        nx = ay * bz - az * by;
        ny = az * bx - ax * bz;
        nz = ax * by - ay * bx;
        const float square = nx * nx + ny * ny + nz * nz;
        float scale = square > 0.0f ? rsqrtf(square) : 0.0f;
        if (nx * px[r][c] + ny * py[r][c] + nz * pz[r][c] > 0.0f) scale = -scale;
        nx *= scale;
        ny *= scale;
        nz *= scale;
    }
    float* out = normals + 3 * (v * width + u);
    out[0] = nx;
    out[1] = ny;
    out[2] = nz;
}

#define CHECK_CUDA(expression)                                                                      \
    do {                                                                                            \
        if (const cudaError_t error = (expression); error != cudaSuccess) {                         \
            std::cerr << #expression << ": " << cudaGetErrorString(error) << std::endl;             \
            return 1;                                                                               \
        }                                                                                           \
    } while (0)

static bool readBytes(const char* path, void* target, std::streamsize bytes) {
    std::ifstream in(path, std::ios::binary);
    in.read(static_cast<char*>(target), bytes);
    if (in.gcount() == bytes && in.get() == EOF) return true;
    std::cerr << path << ": expected exactly " << bytes << " bytes" << std::endl;
    return false;
}

int main() {
    int sizes[2];
    if (!readBytes("data/sizes.bin", sizes, sizeof(sizes))) return 1;
    const int height = sizes[0], width = sizes[1];
    if (height < 1 || height > kMaxSide || width < 1 || width > kMaxSide) {
        std::cerr << "data/sizes.bin: sides must be from 1 to " << kMaxSide << std::endl;
        return 1;
    }
    std::vector<float> host(3 * static_cast<size_t>(height) * width);
    const size_t bytes = host.size() * sizeof(float);
    if (!readBytes("data/cloud.bin", host.data(), bytes)) return 1;

    float *cloud = nullptr, *normals = nullptr;
    CHECK_CUDA(cudaMalloc(&cloud, bytes));
    CHECK_CUDA(cudaMalloc(&normals, bytes));
    CHECK_CUDA(cudaMemcpy(cloud, host.data(), bytes, cudaMemcpyHostToDevice));
    const dim3 block(kBlockX, kBlockY);
    const dim3 grid((width + kBlockX - 1) / kBlockX, (height + kBlockY - 1) / kBlockY);
    normalsFromNeighbors<<<grid, block>>>(cloud, normals, height, width);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaMemcpy(host.data(), normals, bytes, cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaFree(cloud));
    CHECK_CUDA(cudaFree(normals));

    std::ofstream out("data/normals.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(host.data()), bytes);
    out.close();
    if (!out) {
        std::cerr << "data/normals.bin: cannot be written" << std::endl;
        return 1;
    }
    return 0;
}
