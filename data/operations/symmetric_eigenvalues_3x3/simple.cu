#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define COUNT 2500

#define CUDA_OK(call)                                                                \
    do {                                                                             \
        cudaError_t status = (call);                                                 \
        if (status != cudaSuccess) {                                                 \
            fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(status)); \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

__global__ void eigenvalues_3x3(const float* s, float* values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= COUNT) return;
    const float* m = s + 6 * i;
    float q = (m[0] + m[3] + m[5]) / 3.0f;
    float a = m[0] - q, d = m[3] - q, f = m[5] - q;
    float b = m[1], c = m[2], e = m[4];
    float p = sqrtf((a * a + d * d + f * f + 2.0f * (b * b + c * c + e * e)) / 6.0f);
    float det = a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d);
    float r = det / (2.0f * p * p * p);
    r = fminf(1.0f, fmaxf(-1.0f, r));
    float phi = acosf(r) / 3.0f;
    float largest = q + 2.0f * p * cosf(phi);
    float smallest = q + 2.0f * p * cosf(phi + 2.0943951f);
    values[3 * i] = largest;
    values[3 * i + 1] = 3.0f * q - largest - smallest;
    values[3 * i + 2] = smallest;
}

int main() {
    const size_t s_size = (size_t)COUNT * 6;
    const size_t values_size = (size_t)COUNT * 3;
    float* s = (float*)malloc(s_size * sizeof(float));
    float* values = (float*)malloc(values_size * sizeof(float));
    FILE* f_s = fopen("data/s.bin", "rb");
    if (!f_s || fread(s, sizeof(float), s_size, f_s) != s_size) {
        fprintf(stderr, "cannot read data/s.bin\n");
        return 1;
    }
    fclose(f_s);

    float *d_s, *d_values;
    CUDA_OK(cudaMalloc(&d_s, s_size * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_values, values_size * sizeof(float)));
    CUDA_OK(cudaMemcpy(d_s, s, s_size * sizeof(float), cudaMemcpyHostToDevice));
    int threads = 256;
    int blocks = (COUNT + threads - 1) / threads;
    eigenvalues_3x3<<<blocks, threads>>>(d_s, d_values);
    CUDA_OK(cudaGetLastError());

    CUDA_OK(cudaMemcpy(values, d_values, values_size * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* o_values = fopen("data/values.bin", "wb");
    if (!o_values) {
        fprintf(stderr, "cannot open data/values.bin\n");
        return 1;
    }
    fwrite(values, sizeof(float), values_size, o_values);
    fclose(o_values);

    cudaFree(d_s);
    cudaFree(d_values);
    free(s);
    free(values);
    return 0;
}
