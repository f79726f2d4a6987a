#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct Buffer {
    T* ptr = nullptr;
    explicit Buffer(size_t count) {
        if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess) {
            fprintf(stderr, "out of device memory\n");
            exit(1);
        }
    }
    ~Buffer() { cudaFree(ptr); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
};

template <typename T>
void read_into(const char* path, std::vector<T>& v) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(v.data(), sizeof(T), v.size(), f) != v.size()) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

constexpr int kN = 4000;

// Rows are read and written as float4; segments outside of the window on one side leave early.
__global__ void clip_rows(const float4* __restrict__ segments, float4* __restrict__ clipped,
                          unsigned char* __restrict__ kept) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kN) return;
    float4 s = segments[i];
    float4 result = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    bool outside = fminf(s.x, s.z) > 1.0f || fmaxf(s.x, s.z) < -1.0f ||
                   fminf(s.y, s.w) > 1.0f || fmaxf(s.y, s.w) < -1.0f;
    bool keep = false;
    if (!outside) {
        float dx = s.z - s.x, dy = s.w - s.y;
        float ix = 1.0f / dx, iy = 1.0f / dy;
        // Half of the crossing interval is 1 / |d|, its middle -p / d.
        float lower = fmaxf(fmaxf(-s.x * ix - fabsf(ix), -s.y * iy - fabsf(iy)), 0.0f);
        float upper = fminf(fminf(-s.x * ix + fabsf(ix), -s.y * iy + fabsf(iy)), 1.0f);
        keep = lower <= upper;
        if (keep) result = make_float4(s.x + lower * dx, s.y + lower * dy, s.x + upper * dx, s.y + upper * dy);
    }
    clipped[i] = result;
    kept[i] = keep ? 1 : 0;
}

int main() {
    std::vector<float> host_segments(kN * 4);
    std::vector<float> host_clipped(kN * 4);
    std::vector<unsigned char> host_kept(kN);
    read_into("data/segments.bin", host_segments);

    Buffer<float> segments(kN * 4);
    Buffer<float> clipped(kN * 4);
    Buffer<unsigned char> kept(kN);
    cudaMemcpy(segments.ptr, host_segments.data(), sizeof(float) * kN * 4, cudaMemcpyHostToDevice);

    clip_rows<<<(kN + 127) / 128, 128>>>((const float4*)segments.ptr, (float4*)clipped.ptr, kept.ptr);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "kernel launch failed\n");
        return 1;
    }

    cudaMemcpy(host_clipped.data(), clipped.ptr, sizeof(float) * kN * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(host_kept.data(), kept.ptr, sizeof(unsigned char) * kN, cudaMemcpyDeviceToHost);
    FILE* out = fopen("data/clipped.bin", "wb");
    if (!out) return 1;
    fwrite(host_clipped.data(), sizeof(float), host_clipped.size(), out);
    fclose(out);
    out = fopen("data/kept.bin", "wb");
    if (!out) return 1;
    fwrite(host_kept.data(), sizeof(unsigned char), host_kept.size(), out);
    fclose(out);
    return 0;
}
