#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define gpuErrchk(x)                                                                   \
    do {                                                                               \
        cudaError_t e_ = (x);                                                          \
        if (e_ != cudaSuccess) {                                                       \
            fprintf(stderr, "CUDA: %s (line %d)\n", cudaGetErrorString(e_), __LINE__); \
            exit(EXIT_FAILURE);                                                        \
        }                                                                              \
    } while (0)

#define N 6000

__device__ float2 reflectance(float theta, float n1, float n2) {
    float s1, c1;
    sincosf(theta, &s1, &c1);
    float s2 = n1 * s1 / n2;
    if (s2 >= 1.0f) return make_float2(1.0f, 1.0f);
    float c2 = sqrtf((1.0f - s2) * (1.0f + s2));
    float s = (n1 * c1 - n2 * c2) / (n1 * c1 + n2 * c2);
    float p = (n1 * c2 - n2 * c1) / (n1 * c2 + n2 * c1);
    return make_float2(s * s, p * p);
}

// Two neighbouring elements a thread; an odd last element is done alone.
__global__ void fresnel_pairs(const float* __restrict__ angle, const float* __restrict__ index_in,
                              const float* __restrict__ index_out, float* __restrict__ reflect_s,
                              float* __restrict__ reflect_p) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * k + 1 < N) {
        float2 t = ((const float2*)angle)[k];
        float2 a = ((const float2*)index_in)[k];
        float2 b = ((const float2*)index_out)[k];
        float2 r0 = reflectance(t.x, a.x, b.x);
        float2 r1 = reflectance(t.y, a.y, b.y);
        ((float2*)reflect_s)[k] = make_float2(r0.x, r1.x);
        ((float2*)reflect_p)[k] = make_float2(r0.y, r1.y);
    } else if (2 * k < N) {
        float2 r = reflectance(angle[2 * k], index_in[2 * k], index_out[2 * k]);
        reflect_s[2 * k] = r.x;
        reflect_p[2 * k] = r.y;
    }
}

int main() {
    float* host_angle = (float*)malloc(sizeof(float) * N);
    float* host_index_in = (float*)malloc(sizeof(float) * N);
    float* host_index_out = (float*)malloc(sizeof(float) * N);
    float* host_reflect_s = (float*)malloc(sizeof(float) * N);
    float* host_reflect_p = (float*)malloc(sizeof(float) * N);

    FILE* in = fopen("data/angle.bin", "rb");
    if (!in || fread(host_angle, sizeof(float), N, in) != (size_t)N) {
        fprintf(stderr, "cannot read data/angle.bin\n");
        return 1;
    }
    fclose(in);
    in = fopen("data/index_in.bin", "rb");
    if (!in || fread(host_index_in, sizeof(float), N, in) != (size_t)N) {
        fprintf(stderr, "cannot read data/index_in.bin\n");
        return 1;
    }
    fclose(in);
    in = fopen("data/index_out.bin", "rb");
    if (!in || fread(host_index_out, sizeof(float), N, in) != (size_t)N) {
        fprintf(stderr, "cannot read data/index_out.bin\n");
        return 1;
    }
    fclose(in);

    float *d_angle, *d_index_in, *d_index_out, *d_reflect_s, *d_reflect_p;
    gpuErrchk(cudaMalloc(&d_angle, sizeof(float) * N));
    gpuErrchk(cudaMalloc(&d_index_in, sizeof(float) * N));
    gpuErrchk(cudaMalloc(&d_index_out, sizeof(float) * N));
    gpuErrchk(cudaMalloc(&d_reflect_s, sizeof(float) * N));
    gpuErrchk(cudaMalloc(&d_reflect_p, sizeof(float) * N));
    gpuErrchk(cudaMemcpy(d_angle, host_angle, sizeof(float) * N, cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(d_index_in, host_index_in, sizeof(float) * N, cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(d_index_out, host_index_out, sizeof(float) * N, cudaMemcpyHostToDevice));

    const int pairs = (N + 1) / 2;
    fresnel_pairs<<<(pairs + 128 - 1) / 128, 128>>>(d_angle, d_index_in, d_index_out, d_reflect_s, d_reflect_p);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaDeviceSynchronize());

    gpuErrchk(cudaMemcpy(host_reflect_s, d_reflect_s, sizeof(float) * N, cudaMemcpyDeviceToHost));
    gpuErrchk(cudaMemcpy(host_reflect_p, d_reflect_p, sizeof(float) * N, cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/reflect_s.bin", "wb");
    if (!out || fwrite(host_reflect_s, sizeof(float), N, out) != (size_t)N) {
        fprintf(stderr, "cannot write data/reflect_s.bin\n");
        return 1;
    }
    fclose(out);
    out = fopen("data/reflect_p.bin", "wb");
    if (!out || fwrite(host_reflect_p, sizeof(float), N, out) != (size_t)N) {
        fprintf(stderr, "cannot write data/reflect_p.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(d_angle);
    cudaFree(d_index_in);
    cudaFree(d_index_out);
    cudaFree(d_reflect_s);
    cudaFree(d_reflect_p);
    free(host_angle);
    free(host_index_in);
    free(host_index_out);
    free(host_reflect_s);
    free(host_reflect_p);
    return 0;
}
