#include <cstdio>
#include <fstream>
#include <vector>

#include <cuda_runtime.h>

static const int kMaxRows = 131072;
static const int kMaxQuads = 1024;
static const int kWarpsPerBlock = 8;

__device__ float4 operator/(float4 v, float s) { return make_float4(v.x / s, v.y / s, v.z / s, v.w / s); }

__device__ float largest(float4 v) { return fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))); }

__device__ float sumOfSquares(float4 v) { return v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w; }

__global__ void normalizeRows(const float4* __restrict__ x, float4* __restrict__ y, float* __restrict__ norms,
                              int rows, int quads) {
    const int lane = threadIdx.x;
    const int row = blockIdx.x * kWarpsPerBlock + threadIdx.y;
    if (row >= rows) return;
    const float4* in = x + (size_t)row * quads;
    float4* out = y + (size_t)row * quads;

    float peak = 0.0f;
    for (int q = lane; q < quads; q += 32) peak = fmaxf(peak, largest(in[q]));
    for (int mask = 16; mask > 0; mask >>= 1) peak = fmaxf(peak, __shfl_xor_sync(0xffffffffu, peak, mask));

    if (peak == 0.0f) {
        for (int q = lane; q < quads; q += 32) out[q] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (lane == 0) norms[row] = 0.0f;
        return;
    }

    float sum = 0.0f;
    for (int q = lane; q < quads; q += 32) sum += sumOfSquares(in[q] / peak);
    for (int mask = 16; mask > 0; mask >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, mask);

    const float root = sqrtf(sum);
    for (int q = lane; q < quads; q += 32) out[q] = in[q] / peak / root;
    if (lane == 0) norms[row] = peak * root;
}

static bool readExactly(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || (size_t)in.tellg() != bytes) {
        fprintf(stderr, "%s: not %zu bytes long\n", path, bytes);
        return false;
    }
    in.seekg(0);
    in.read((char*)target, bytes);
    return in.good();
}

static bool writeAll(const char* path, const std::vector<float>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write((const char*)values.data(), values.size() * sizeof(float));
    out.close();
    return out.good();
}

int main() {
    int sizes[2];
    if (!readExactly("data/sizes.bin", sizes, sizeof(sizes))) return 1;
    const int rows = sizes[0], quads = sizes[1];
    if (rows < 1 || rows > kMaxRows || quads < 1 || quads > kMaxQuads) {
        fprintf(stderr, "data/sizes.bin: rows or quads out of range\n");
        return 1;
    }
    std::vector<float> x((size_t)rows * quads * 4), norms(rows);
    const size_t bytes = x.size() * sizeof(float);
    if (!readExactly("data/x.bin", x.data(), bytes)) return 1;

    float4 *dX = nullptr, *dY = nullptr;
    float* dNorms = nullptr;
    cudaError_t status = cudaMalloc(&dX, bytes);
    if (status == cudaSuccess) status = cudaMalloc(&dY, bytes);
    if (status == cudaSuccess) status = cudaMalloc(&dNorms, rows * sizeof(float));
    if (status == cudaSuccess) status = cudaMemcpy(dX, x.data(), bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess) {
        const int blocks = (rows + kWarpsPerBlock - 1) / kWarpsPerBlock;
        normalizeRows<<<blocks, dim3(32, kWarpsPerBlock)>>>(dX, dY, dNorms, rows, quads);
        status = cudaGetLastError();
    }
    if (status == cudaSuccess) status = cudaMemcpy(x.data(), dY, bytes, cudaMemcpyDeviceToHost);
    if (status == cudaSuccess) {
        status = cudaMemcpy(norms.data(), dNorms, rows * sizeof(float), cudaMemcpyDeviceToHost);
    }
    cudaFree(dX);
    cudaFree(dY);
    cudaFree(dNorms);
    if (status != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
        return 1;
    }

    if (!writeAll("data/y.bin", x) || !writeAll("data/norms.bin", norms)) {
        fprintf(stderr, "cannot write the results\n");
        return 1;
    }
    return 0;
}
