#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxSide = 4096, kThreads = 128;

struct Camera {
    float perFx, perFy, cx, cy;  // perFx = 1 / fx
};

template <bool Aligned>
__global__ void backProject(const uint16_t* __restrict__ depth, float* __restrict__ cloud, int* __restrict__ valid,
                            int width, Camera camera) {
    __shared__ int count;
    const int v = blockIdx.x;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    const uint16_t* row = depth + static_cast<size_t>(v) * width;
    float* points = cloud + static_cast<size_t>(v) * width * 3;
    const float slope = (v - camera.cy) * camera.perFy;
    int seen = 0;
    for (int u = 4 * threadIdx.x; u < width; u += 4 * kThreads) {
        uint16_t raw[4] = {0, 0, 0, 0};
        const int inside = min(4, width - u);
        if (Aligned) {
            const ushort4 four = *reinterpret_cast<const ushort4*>(row + u);
            raw[0] = four.x, raw[1] = four.y, raw[2] = four.z, raw[3] = four.w;
        } else {
            for (int k = 0; k < inside; ++k) raw[k] = row[u + k];
        }
        float out[12];
        for (int k = 0; k < 4; ++k) {
            const float z = 0.001f * raw[k];
            out[3 * k] = (u + k - camera.cx) * camera.perFx * z;
            out[3 * k + 1] = slope * z;
            out[3 * k + 2] = z;
            seen += raw[k] != 0;
        }
        if (Aligned) {
            float4* target = reinterpret_cast<float4*>(points + 3 * u);
            for (int q = 0; q < 3; ++q) {
                target[q] = make_float4(out[4 * q], out[4 * q + 1], out[4 * q + 2], out[4 * q + 3]);
            }
        } else {
            for (int e = 0; e < 3 * inside; ++e) points[3 * u + e] = out[e];
        }
    }
    seen = __reduce_add_sync(0xFFFFFFFFu, seen);
    if (threadIdx.x % 32 == 0) atomicAdd(&count, seen);
    __syncthreads();
    if (threadIdx.x == 0) valid[v] = count;
}

static void quit(const char* what, const char* why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void good(cudaError_t status, const char* call) {
    if (status != cudaSuccess) quit(call, cudaGetErrorString(status));
}

static void fromFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) quit(path, "not found");
    if (fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) quit(path, "wrong length");
    fclose(file);
}

static void toFile(const char* path, const void* device, size_t bytes) {
    std::vector<char> host(bytes);
    good(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost), "download");
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host.data(), 1, bytes, file) != bytes || fclose(file) != 0) quit(path, "cannot be written");
}

int main() {
    int sizes[2];
    fromFile("data/sizes.bin", sizes, sizeof sizes);
    const int height = sizes[0], width = sizes[1];
    if (height < 1 || height > kMaxSide || width < 1 || width > kMaxSide) quit("data/sizes.bin", "out of range");
    float intrinsics[4];
    fromFile("data/intrinsics.bin", intrinsics, sizeof intrinsics);
    if (!(intrinsics[0] > 0.0f) || !(intrinsics[1] > 0.0f)) quit("data/intrinsics.bin", "focal lengths");
    const Camera camera = {1.0f / intrinsics[0], 1.0f / intrinsics[1], intrinsics[2], intrinsics[3]};
    const size_t pixels = static_cast<size_t>(height) * width;
    std::vector<uint16_t> depth(pixels);
    fromFile("data/depth.bin", depth.data(), pixels * sizeof(uint16_t));

    uint16_t* dDepth;
    float* dCloud;
    int* dValid;
    good(cudaMalloc(&dDepth, pixels * sizeof(uint16_t)), "cudaMalloc");
    good(cudaMalloc(&dCloud, 3 * pixels * sizeof(float)), "cudaMalloc");
    good(cudaMalloc(&dValid, height * sizeof(int)), "cudaMalloc");
    good(cudaMemcpy(dDepth, depth.data(), pixels * sizeof(uint16_t), cudaMemcpyHostToDevice), "upload");
    if (width % 4 == 0) {
        backProject<true><<<height, kThreads>>>(dDepth, dCloud, dValid, width, camera);
    } else {
        backProject<false><<<height, kThreads>>>(dDepth, dCloud, dValid, width, camera);
    }
    good(cudaGetLastError(), "launch");
    toFile("data/cloud.bin", dCloud, 3 * pixels * sizeof(float));
    toFile("data/valid.bin", dValid, height * sizeof(int));
    good(cudaFree(dDepth), "cudaFree");
    good(cudaFree(dCloud), "cudaFree");
    good(cudaFree(dValid), "cudaFree");
    return 0;
}
