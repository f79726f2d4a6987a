#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

const int SAMPLES = 200;
const int N = 24;
const int PACKED = N * (N + 1) / 2;
const int TILE = 16;
const int SLICE = 512;

__global__ void start_from_packed(const float* packed, float* result) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < PACKED) result[k] = packed[k];
}

// Block (x, y, z) works on a 16 x 16 tile of the matrix and on a slice of the samples; slices meet by atomicAdd.
__global__ void add_slices(const float* __restrict__ x, const float* __restrict__ weight,
        float* __restrict__ result) {
    if (blockIdx.x < blockIdx.y) return;
    __shared__ float left[TILE][TILE + 1], right[TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int i = blockIdx.y * TILE + ty, j = blockIdx.x * TILE + tx;
    const int li = blockIdx.y * TILE + tx;
    const int begin = blockIdx.z * SLICE;
    const int end = min(begin + SLICE, SAMPLES);
    float sum = 0.0f;
    for (int s0 = begin; s0 < end; s0 += TILE) {
        const int s = s0 + ty;
        left[ty][tx] = s < end && li < N ? weight[s] * x[s * N + li] : 0.0f;
        right[ty][tx] = s < end && j < N ? x[s * N + j] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum = fmaf(left[k][ty], right[k][tx], sum);
        __syncthreads();
    }
    if (i <= j && j < N) atomicAdd(&result[i * N - i * (i - 1) / 2 + (j - i)], sum);
}

int main() {
    const size_t packed_size = (size_t)N * (N + 1) / 2;
    const size_t x_size = (size_t)SAMPLES * N;
    std::vector<float> hPacked(packed_size);
    std::vector<float> hX(x_size);
    std::vector<float> hWeight(SAMPLES);
    std::vector<float> hResult(packed_size);
    FILE* f = fopen("data/packed.bin", "rb");
    if (!f || fread(hPacked.data(), sizeof(float), hPacked.size(), f) != hPacked.size()) return 1;
    fclose(f);
    f = fopen("data/x.bin", "rb");
    if (!f || fread(hX.data(), sizeof(float), hX.size(), f) != hX.size()) return 1;
    fclose(f);
    f = fopen("data/weight.bin", "rb");
    if (!f || fread(hWeight.data(), sizeof(float), hWeight.size(), f) != hWeight.size()) return 1;
    fclose(f);
    float *dPacked, *dX, *dWeight, *dResult;
    cudaMalloc(&dPacked, packed_size * sizeof(float));
    cudaMemcpy(dPacked, hPacked.data(), packed_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&dX, x_size * sizeof(float));
    cudaMemcpy(dX, hX.data(), x_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&dWeight, SAMPLES * sizeof(float));
    cudaMemcpy(dWeight, hWeight.data(), SAMPLES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&dResult, packed_size * sizeof(float));
    start_from_packed<<<(PACKED + 255) / 256, 256>>>(dPacked, dResult);
    const int tiles = (N + TILE - 1) / TILE;
    dim3 blocks(tiles, tiles, (SAMPLES + SLICE - 1) / SLICE);
    add_slices<<<blocks, dim3(TILE, TILE)>>>(dX, dWeight, dResult);
    cudaMemcpy(hResult.data(), dResult, packed_size * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/result.bin", "wb");
    fwrite(hResult.data(), sizeof(float), hResult.size(), f);
    fclose(f);
}
