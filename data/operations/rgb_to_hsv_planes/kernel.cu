#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void fetch(const char* file_name, void* buffer, size_t size) {
    FILE* f = fopen(file_name, "rb");
    size_t got = f ? fread(buffer, 1, size, f) : 0;
    if (got != size) {
        fprintf(stderr, "%s: short read\n", file_name);
        exit(1);
    }
    fclose(f);
}

void dump(const char* file_name, const void* buffer, size_t size) {
    FILE* f = fopen(file_name, "wb");
    if (!f || fwrite(buffer, 1, size, f) != size) {
        fprintf(stderr, "%s: write failed\n", file_name);
        exit(1);
    }
    fclose(f);
}
//@given

const int kHeight = 80;
const int kWidth = 100;
#define DIV_UP(total, per_block) (((total) + (per_block) - 1) / (per_block))

#define BLOCK 256

// The interleaved samples of a block are brought to shared memory with contiguous reads.
__global__ void hsv_staged(const float* rgb, float* hue, float* saturation, float* value) {
    __shared__ float s[3 * BLOCK];
    const int n = kHeight * kWidth;
    const int first = blockIdx.x * BLOCK;
    const int here = min(BLOCK, n - first);
    for (int k = threadIdx.x; k < 3 * here; k += BLOCK) s[k] = rgb[3 * first + k];
    __syncthreads();
    const int t = threadIdx.x;
    if (t >= here) return;
    float r = s[3 * t], g = s[3 * t + 1], b = s[3 * t + 2];
    float base = 0.0f, p = g, q = b, top = r;
    if (g > top) { base = 120.0f; p = b; q = r; top = g; }
    if (b > top) { base = 240.0f; p = r; q = g; top = b; }
    float d = top - fminf(r, fminf(g, b));
    float h = d > 0.0f ? base + 60.0f * (p - q) / d : 0.0f;
    hue[first + t] = h < 0.0f ? h + 360.0f : h;
    saturation[first + t] = top > 0.0f ? d / top : 0.0f;
    value[first + t] = top;
}

int main() {
    const size_t rgb_elems = kHeight * kWidth * 3;
    const size_t hue_elems = (size_t)kHeight * kWidth;

    float* h_rgb = new float[rgb_elems];
    float* h_hue = new float[hue_elems];
    float* h_saturation = new float[hue_elems];
    float* h_value = new float[hue_elems];
    fetch("data/rgb.bin", h_rgb, rgb_elems * sizeof(float));

    float *d_rgb;
    float *d_hue;
    float *d_saturation;
    float *d_value;
    cudaMalloc(&d_rgb, rgb_elems * sizeof(float));
    cudaMalloc((void**)&d_hue, hue_elems * sizeof(float));
    cudaMalloc(&d_saturation, hue_elems * sizeof(float));
    cudaMalloc(&d_value, hue_elems * sizeof(float));
    cudaMemcpy(d_rgb, h_rgb, rgb_elems * sizeof(float), cudaMemcpyHostToDevice);

    const int pixels = kHeight * kWidth;
    hsv_staged<<<DIV_UP(pixels, BLOCK), BLOCK>>>(d_rgb, d_hue, d_saturation, d_value);
    cudaDeviceSynchronize();

    cudaMemcpy(h_hue, d_hue, hue_elems * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_saturation, d_saturation, hue_elems * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_value, d_value, hue_elems * sizeof(float), cudaMemcpyDeviceToHost);
    dump("data/hue.bin", h_hue, hue_elems * sizeof(float));
    dump("data/saturation.bin", h_saturation, hue_elems * sizeof(float));
    dump("data/value.bin", h_value, hue_elems * sizeof(float));

    cudaFree(d_rgb);
    cudaFree(d_hue);
    cudaFree(d_saturation);
    cudaFree(d_value);
    delete[] h_rgb;
    delete[] h_hue;
    delete[] h_saturation;
    delete[] h_value;
    return 0;
}
