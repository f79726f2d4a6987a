#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("failed to read " + path);
    }
    return values;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int BATCH = 10;
constexpr int N = 64;
constexpr int TILE = 16;
constexpr int TILES = (N + TILE - 1) / TILE;

// Each block compares a tile above the diagonal with its mirror image, both read row by row.
__global__ void compare_tiles(const float* __restrict__ a, float* sums) {
    __shared__ float mirror[TILE][TILE + 1];
    __shared__ float parts[2][TILE * TILE / 32];
    if (blockIdx.x < blockIdx.y) return;
    const float* m = a + (size_t)blockIdx.z * N * N;
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = blockIdx.y * TILE + ty, j = blockIdx.x * TILE + tx;
    int mi = blockIdx.x * TILE + ty, mj = blockIdx.y * TILE + tx;
    mirror[ty][tx] = mi < N && mj < N ? m[mi * N + mj] : 0.0f;
    __syncthreads();
    float d = 0.0f, s = 0.0f;
    if (i < j && j < N) {
        float u = m[i * N + j];
        float v = mirror[tx][ty];
        d = (u - v) * (u - v);
        s = (u + v) * (u + v);
    }
    for (int h = 16; h > 0; h >>= 1) {
        d += __shfl_down_sync(0xffffffffu, d, h);
        s += __shfl_down_sync(0xffffffffu, s, h);
    }
    int t = ty * TILE + tx;
    if (t % 32 == 0) {
        parts[0][t / 32] = d;
        parts[1][t / 32] = s;
    }
    __syncthreads();
    if (t < 2) {
        float sum = 0.0f;
        for (int w = 0; w < TILE * TILE / 32; ++w) sum += parts[t][w];
        atomicAdd(&sums[2 * blockIdx.z + t], sum);
    }
}

__global__ void finish(const float* sums, float* ratio) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= BATCH) return;
    float d = sums[2 * k], total = d + sums[2 * k + 1];
    ratio[k] = total > 0.0f ? d / total : 0.0f;
}

int main() {
    const auto h_a = read_vector<float>("data/a.bin", BATCH * N * N);

    float *d_a, *d_ratio;
    float* d_sums;
    cudaMalloc(&d_a, BATCH * N * N * sizeof(float));
    cudaMalloc(&d_ratio, BATCH * sizeof(float));
    cudaMalloc(&d_sums, 2 * BATCH * sizeof(float));
    cudaMemcpy(d_a, h_a.data(), BATCH * N * N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(d_sums, 0, 2 * BATCH * sizeof(float));

    dim3 block(TILE, TILE);
    dim3 grid(TILES, TILES, BATCH);
    compare_tiles<<<grid, block>>>(d_a, d_sums);
    finish<<<(BATCH + 128 - 1) / 128, 128>>>(d_sums, d_ratio);
    const auto status = cudaDeviceSynchronize();
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));

    std::vector<float> h_ratio(BATCH);
    cudaMemcpy(h_ratio.data(), d_ratio, BATCH * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/ratio.bin", h_ratio);
    cudaFree(d_a);
    cudaFree(d_ratio);
    cudaFree(d_sums);
    return 0;
}
