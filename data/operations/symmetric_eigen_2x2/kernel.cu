#include <cuda_runtime.h>
#include <cstdio>

#define COUNT 5000

// Without trigonometry: of the two rows of (S - lambda I) the one without cancellation gives the vector.
__global__ void eigen_2x2_algebraic(const float* __restrict__ s, float2* __restrict__ values,
                                    float2* __restrict__ axis) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= COUNT) return;
    const float p = s[3 * i], q = s[3 * i + 1], r = s[3 * i + 2];
    const float mean = 0.5f * (p + r);
    const float diff = 0.5f * (p - r);
    const float radius = sqrtf(fmaf(diff, diff, q * q));
    values[i] = make_float2(mean + radius, mean - radius);
    float2 v;
    if (diff >= 0.0f) v = make_float2(radius + diff, q);
    else v = make_float2(q, radius - diff);
    float scale = rsqrtf(fmaf(v.x, v.x, v.y * v.y));
    if (v.y < 0.0f) scale = -scale;
    axis[i] = make_float2(v.x * scale, v.y * scale);
}

int main() {
    const size_t count_s = (size_t)COUNT * 3;
    const size_t count_values = (size_t)COUNT * 2;
    float *s, *values, *axis;
    cudaMallocManaged(&s, count_s * sizeof(float));
    cudaMallocManaged(&values, count_values * sizeof(float));
    cudaMallocManaged(&axis, count_values * sizeof(float));

    FILE* file_s = fopen("data/s.bin", "rb");
    if (!file_s || fread(s, 1, count_s * sizeof(float), file_s) != count_s * sizeof(float)) {
        fprintf(stderr, "data/s.bin?\n");
        return 1;
    }
    fclose(file_s);

    eigen_2x2_algebraic<<<(COUNT + 127) / 128, 128>>>(s, (float2*)values, (float2*)axis);
    cudaDeviceSynchronize();

    FILE* out_values = fopen("data/values.bin", "wb");
    fwrite(values, sizeof(float), count_values, out_values);
    fclose(out_values);
    FILE* out_axis = fopen("data/axis.bin", "wb");
    fwrite(axis, sizeof(float), count_values, out_axis);
    fclose(out_axis);

    cudaFree(s);
    cudaFree(values);
    cudaFree(axis);
    return 0;
}
