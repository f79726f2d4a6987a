#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define gpuErrchk(call)                                                                           \
    do {                                                                                          \
        cudaError_t status = call;                                                                \
        if (status != cudaSuccess) {                                                              \
            fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(status)); \
            return 1;                                                                             \
        }                                                                                         \
    } while (0)

#define N 5000

// Four points are twelve floats: three float4 in and three out.
__device__ float3 convert(float x, float y, float z) {
    const float square = fmaf(x, x, y * y);
    const float phi = atan2f(y, x);
    return make_float3(sqrtf(fmaf(z, z, square)), atan2f(sqrtf(square), z), phi < 0.0f ? phi + 6.2831853f : phi);
}

__global__ void spherical_four(const float* __restrict__ xyz, float* __restrict__ spherical, int n) {
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * q + 3 < n) {
        const float4* in = reinterpret_cast<const float4*>(xyz) + 3 * q;
        const float4 a = in[0], b = in[1], c = in[2];
        const float3 p = convert(a.x, a.y, a.z), r = convert(a.w, b.x, b.y);
        const float3 s = convert(b.z, b.w, c.x), t = convert(c.y, c.z, c.w);
        float4* out = reinterpret_cast<float4*>(spherical) + 3 * q;
        out[0] = make_float4(p.x, p.y, p.z, r.x);
        out[1] = make_float4(r.y, r.z, s.x, s.y);
        out[2] = make_float4(s.z, t.x, t.y, t.z);
    } else {
        for (int i = 4 * q; i < n; ++i) {
            const float3 p = convert(xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2]);
            spherical[3 * i] = p.x;
            spherical[3 * i + 1] = p.y;
            spherical[3 * i + 2] = p.z;
        }
    }
}

int main() {
    const int count = N * 3;
    size_t size_bytes = count * sizeof(float);
    float* host_xyz = (float*)malloc(size_bytes);
    float* host_spherical = (float*)malloc(size_bytes);

    FILE* file = fopen("data/xyz.bin", "rb");
    if (!file || fread(host_xyz, sizeof(float), count, file) != (size_t)count) {
        fprintf(stderr, "cannot read data/xyz.bin\n");
        return 1;
    }
    fclose(file);

    float *dev_xyz = nullptr, *dev_spherical = nullptr;
    gpuErrchk(cudaMalloc(&dev_xyz, size_bytes));
    gpuErrchk(cudaMalloc(&dev_spherical, size_bytes));
    gpuErrchk(cudaMemcpy(dev_xyz, host_xyz, size_bytes, cudaMemcpyHostToDevice));

    int quads = (N + 4 - 1) / 4;
    spherical_four<<<(quads + 128 - 1) / 128, 128>>>(dev_xyz, dev_spherical, N);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaDeviceSynchronize());
    gpuErrchk(cudaMemcpy(host_spherical, dev_spherical, size_bytes, cudaMemcpyDeviceToHost));

    file = fopen("data/spherical.bin", "wb");
    if (!file || fwrite(host_spherical, sizeof(float), count, file) != (size_t)count) {
        fprintf(stderr, "cannot write data/spherical.bin\n");
        return 1;
    }
    fclose(file);

    gpuErrchk(cudaFree(dev_xyz));
    gpuErrchk(cudaFree(dev_spherical));
    free(host_xyz);
    free(host_spherical);
    return 0;
}
