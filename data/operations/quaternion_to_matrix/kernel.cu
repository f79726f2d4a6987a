#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t err = (call);                                                       \
        if (err != cudaSuccess) {                                                       \
            fprintf(stderr, "CUDA: %s (line %d)\n", cudaGetErrorString(err), __LINE__); \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

#define N 3000
const int BLOCK = 128;

__global__ void matrices_from_quaternions(const float4* __restrict__ quaternions, float* __restrict__ matrices) {
    __shared__ float tile[9 * BLOCK];
    int first = blockIdx.x * BLOCK;
    int i = first + threadIdx.x;
    if (i < N) {
        float4 q = quaternions[i];
        float norm = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
        float s = norm > 0.0f ? 2.0f / norm : 0.0f;
        float sx = s * q.x, sy = s * q.y, sz = s * q.z;
        float xx = sx * q.x, yy = sy * q.y, zz = sz * q.z;
        float xy = sx * q.y, xz = sx * q.z, yz = sy * q.z;
        float xw = sx * q.w, yw = sy * q.w, zw = sz * q.w;
        float* m = tile + 9 * threadIdx.x;
        m[0] = 1.0f - (yy + zz); m[1] = xy - zw;          m[2] = xz + yw;
        m[3] = xy + zw;          m[4] = 1.0f - (xx + zz); m[5] = yz - xw;
        m[6] = xz - yw;          m[7] = yz + xw;          m[8] = 1.0f - (xx + yy);
    }
    __syncthreads();
    // The block's matrices leave as one contiguous stretch.
    int count = 9 * min(BLOCK, N - first);
    for (int k = threadIdx.x; k < count; k += BLOCK) matrices[9 * first + k] = tile[k];
}

int main() {
    float* h_quaternions = (float*)malloc(N * 4 * sizeof(float));
    float* h_matrices = (float*)malloc(N * 9 * sizeof(float));

    FILE* fp = fopen("data/quaternions.bin", "rb");
    if (!fp || fread(h_quaternions, sizeof(float), N * 4, fp) != (size_t)(N * 4)) {
        fprintf(stderr, "cannot read data/quaternions.bin\n");
        return 1;
    }
    fclose(fp);

    float* dev_quaternions;
    float* dev_matrices;
    CHECK(cudaMalloc(&dev_quaternions, N * 4 * sizeof(float)));
    CHECK(cudaMalloc(&dev_matrices, N * 9 * sizeof(float)));
    CHECK(cudaMemcpy(dev_quaternions, h_quaternions, N * 4 * sizeof(float), cudaMemcpyHostToDevice));

    matrices_from_quaternions<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>((const float4*)dev_quaternions, dev_matrices);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(h_matrices, dev_matrices, N * 9 * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/matrices.bin", "wb");
    if (!out || fwrite(h_matrices, sizeof(float), N * 9, out) != (size_t)(N * 9)) {
        fprintf(stderr, "cannot write data/matrices.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(dev_quaternions);
    cudaFree(dev_matrices);
    free(h_quaternions);
    free(h_matrices);
    return 0;
}
