#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kPlanes = 2;
constexpr int kPatchesY = 12;
constexpr int kPatchesX = 14;
constexpr int kPatch = 6;
constexpr int kStride = 3;
constexpr int kHeight = (kPatchesY - 1) * kStride + kPatch;
constexpr int kWidth = (kPatchesX - 1) * kStride + kPatch;

inline void cuda_check(cudaError_t status, const char* msg) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(status));
        exit(1);
    }
}

bool readFile(const char* path, std::vector<float>& v) {
    FILE* fp = fopen(path, "rb");
    if (!fp) return false;
    size_t got = fread(v.data(), sizeof(float), v.size(), fp);
    fclose(fp);
    return got == v.size();
}

static bool writeFile(const char* path, const std::vector<float>& v) {
    FILE* fp = fopen(path, "wb");
    if (!fp) return false;
    size_t put = fwrite(v.data(), sizeof(float), v.size(), fp);
    fclose(fp);
    return put == v.size();
}

// Gather instead of scatter: the patches over a pixel form a rectangle of the patch grid.
__global__ void gather_pixels(const float* __restrict__ patches, float* __restrict__ image) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= kWidth || y >= kHeight) return;
    const int i0 = y < kPatch ? 0 : (y - kPatch) / kStride + 1;
    const int i1 = min(y / kStride, kPatchesY - 1);
    const int j0 = x < kPatch ? 0 : (x - kPatch) / kStride + 1;
    const int j1 = min(x / kStride, kPatchesX - 1);
    const float* plane = patches + (size_t)blockIdx.z * kPatchesY * kPatchesX * kPatch * kPatch;
    float sum = 0.0f;
    for (int i = i0; i <= i1; ++i) {
        for (int j = j0; j <= j1; ++j) {
            sum += plane[((i * kPatchesX + j) * kPatch + y - i * kStride) * kPatch + x - j * kStride];
        }
    }
    image[((size_t)blockIdx.z * kHeight + y) * kWidth + x] = sum / (float)((i1 - i0 + 1) * (j1 - j0 + 1));
}

int main() {
    const size_t patches_total = size_t(kPlanes) * kPatchesY * kPatchesX * kPatch * kPatch;
    const size_t image_total = size_t(kPlanes) * (3 * kPatchesY - 3 + kPatch) * (3 * kPatchesX - 3 + kPatch);
    std::vector<float> patches(patches_total);
    std::vector<float> image(image_total);
    if (!readFile("data/patches.bin", patches)) {
        fprintf(stderr, "cannot read data/patches.bin\n");
        return 1;
    }

    float* dev_patches = nullptr;
    cuda_check(cudaMalloc(&dev_patches, patches_total * sizeof(float)), "malloc dev_patches");
    cuda_check(cudaMemcpy(dev_patches, patches.data(), patches_total * sizeof(float),
            cudaMemcpyHostToDevice), "copy dev_patches");
    float* dev_image = nullptr;
    cuda_check(cudaMalloc(&dev_image, image_total * sizeof(float)), "malloc dev_image");

    dim3 block(32, 8);
    dim3 grid((kWidth + 31) / 32, (kHeight + 7) / 8, kPlanes);
    gather_pixels<<<grid, block>>>(dev_patches, dev_image);
    cuda_check(cudaGetLastError(), "launch");
    cuda_check(cudaMemcpy(image.data(), dev_image, image_total * sizeof(float), cudaMemcpyDeviceToHost),
            "copy image");

    if (!writeFile("data/image.bin", image)) return 1;
    cudaFree(dev_patches);
    cudaFree(dev_image);
    return 0;
}
