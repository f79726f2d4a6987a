#include <cstdio>
#include <cuda_runtime.h>

constexpr int COUNT = 2000;

__global__ void invert_3x3(const float* a, float* inverse, float* det) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= COUNT) return;
    float m[9];
    for (int k = 0; k < 9; ++k) m[k] = a[9 * i + k];
    float c00 = m[4] * m[8] - m[5] * m[7];
    float c01 = m[5] * m[6] - m[3] * m[8];
    float c02 = m[3] * m[7] - m[4] * m[6];
    float d = m[0] * c00 + m[1] * c01 + m[2] * c02;
    float r = 1.0f / d;
    float* out = inverse + 9 * i;
    out[0] = c00 * r;
    out[1] = (m[2] * m[7] - m[1] * m[8]) * r;
    out[2] = (m[1] * m[5] - m[2] * m[4]) * r;
    out[3] = c01 * r;
    out[4] = (m[0] * m[8] - m[2] * m[6]) * r;
    out[5] = (m[2] * m[3] - m[0] * m[5]) * r;
    out[6] = c02 * r;
    out[7] = (m[1] * m[6] - m[0] * m[7]) * r;
    out[8] = (m[0] * m[4] - m[1] * m[3]) * r;
    det[i] = d;
}

int main() {
    const size_t n_a = (size_t)COUNT * 3 * 3;
    float *a, *inverse, *det;
    cudaMallocManaged(&a, n_a * sizeof(float));
    cudaMallocManaged(&inverse, n_a * sizeof(float));
    cudaMallocManaged(&det, COUNT * sizeof(float));

    FILE* f_a = fopen("data/a.bin", "rb");
    if (!f_a || fread(a, 1, n_a * sizeof(float), f_a) != n_a * sizeof(float)) {
        fprintf(stderr, "data/a.bin?\n");
        return 1;
    }
    fclose(f_a);

    invert_3x3<<<(COUNT + 127) / 128, 128>>>(a, inverse, det);
    cudaDeviceSynchronize();

    FILE* out_inverse = fopen("data/inverse.bin", "wb");
    fwrite(inverse, sizeof(float), n_a, out_inverse);
    fclose(out_inverse);
    FILE* out_det = fopen("data/det.bin", "wb");
    fwrite(det, sizeof(float), COUNT, out_det);
    fclose(out_det);

    cudaFree(a);
    cudaFree(inverse);
    cudaFree(det);
    return 0;
}
