#include <cstdio>
#include <cuda_runtime.h>

const int BODIES = 50;
const int SIZE = 200;
const int BLOCK = 256;

// One pass: moments about the first particle are summed, then moved to the centre of mass.
__global__ void inertia_one_pass(const float4* __restrict__ particles, float* __restrict__ center,
                                 float* __restrict__ inertia) {
    __shared__ float partial[BLOCK / 32][10];
    __shared__ float total[10];
    const float4* body = particles + (size_t)blockIdx.x * SIZE;
    float4 origin = body[0];
    float s[10] = {};
    for (int j = threadIdx.x; j < SIZE; j += BLOCK) {
        float4 p = body[j];
        float x = p.x - origin.x, y = p.y - origin.y, z = p.z - origin.z, m = p.w;
        s[0] += m;
        s[1] += m * x;
        s[2] += m * y;
        s[3] += m * z;
        s[4] += m * x * x;
        s[5] += m * y * y;
        s[6] += m * z * z;
        s[7] += m * x * y;
        s[8] += m * x * z;
        s[9] += m * y * z;
    }
    for (int k = 0; k < 10; ++k) {
        for (int d = 16; d > 0; d /= 2) s[k] += __shfl_down_sync(0xffffffffu, s[k], d);
        if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32][k] = s[k];
    }
    __syncthreads();
    if (threadIdx.x < 10) {
        float sum = 0.0f;
        for (int w = 0; w < BLOCK / 32; ++w) sum += partial[w][threadIdx.x];
        total[threadIdx.x] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float m = total[0], x = total[1] / m, y = total[2] / m, z = total[3] / m;
        float xx = total[4] - m * x * x, yy = total[5] - m * y * y, zz = total[6] - m * z * z;
        float* c = center + 3 * blockIdx.x;
        c[0] = origin.x + x;
        c[1] = origin.y + y;
        c[2] = origin.z + z;
        float* out = inertia + 6 * blockIdx.x;
        out[0] = yy + zz;
        out[1] = xx + zz;
        out[2] = xx + yy;
        out[3] = m * x * y - total[7];
        out[4] = m * x * z - total[8];
        out[5] = m * y * z - total[9];
    }
}

int main() {
    float *particles, *center, *inertia;
    cudaMallocManaged(&particles, sizeof(float) * BODIES * SIZE * 4);
    cudaMallocManaged(&center, sizeof(float) * BODIES * 3);
    cudaMallocManaged(&inertia, sizeof(float) * BODIES * 6);

    FILE* f = fopen("data/particles.bin", "rb");
    if (!f || fread(particles, sizeof(float), BODIES * SIZE * 4, f) != (BODIES * SIZE * 4)) {
        fprintf(stderr, "cannot read data/particles.bin\n");
        return 1;
    }
    fclose(f);

    inertia_one_pass<<<BODIES, BLOCK>>>((const float4*)particles, center, inertia);

    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(status));
        return 1;
    }

    f = fopen("data/center.bin", "wb");
    fwrite(center, sizeof(float), BODIES * 3, f);
    fclose(f);
    f = fopen("data/inertia.bin", "wb");
    fwrite(inertia, sizeof(float), BODIES * 6, f);
    fclose(f);

    cudaFree(particles);
    cudaFree(center);
    cudaFree(inertia);
    return 0;
}
