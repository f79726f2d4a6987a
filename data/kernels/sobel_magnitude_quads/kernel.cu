#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kMaxHeight = 16384, kMaxQuads = 4096;
constexpr int kPixels = 4;  // per thread
constexpr int kColumns = kPixels + 2;

// The four pixels of a quad and the pixel on either side of them, repeated at the image's edges.
__device__ __forceinline__ void loadColumns(const uint8_t* __restrict__ row, int quad, int quads, int (&p)[kColumns]) {
    const uchar4 four = reinterpret_cast<const uchar4*>(row)[quad];
    const int x = quad * kPixels;
    p[0] = quad > 0 ? row[x - 1] : four.x;
    p[1] = four.x;
    p[2] = four.y;
    p[3] = four.z;
    p[4] = four.w;
    p[5] = quad < quads - 1 ? row[x + kPixels] : four.w;
}

__global__ void sobel(const uint8_t* __restrict__ gray, ushort4* __restrict__ magnitude, int height, int quads) {
    const int quad = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (quad >= quads || y >= height) return;

    const int width = quads * kPixels;
    int above[kColumns], here[kColumns], below[kColumns];
    loadColumns(gray + max(y - 1, 0) * width, quad, quads, above);
    loadColumns(gray + y * width, quad, quads, here);
    loadColumns(gray + min(y + 1, height - 1) * width, quad, quads, below);

    int smooth[kColumns], slope[kColumns];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
        smooth[c] = above[c] + 2 * here[c] + below[c];
        slope[c] = below[c] - above[c];
    }
    unsigned short root[kPixels];
#pragma unroll
    for (int k = 0; k < kPixels; ++k) {
        const int gx = smooth[k + 2] - smooth[k];
        const int gy = slope[k] + 2 * slope[k + 1] + slope[k + 2];
        // The sum of squares is below 2^24, thus exact in float; rounding towards zero keeps the floor right.
        root[k] = static_cast<unsigned short>(__fsqrt_rz(static_cast<float>(gx * gx + gy * gy)));
    }
    magnitude[y * quads + quad] = make_ushort4(root[0], root[1], root[2], root[3]);
}

static void fail(const char* where, const char* what) {
    std::cerr << where << ": " << what << '\n';
    std::exit(EXIT_FAILURE);
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) fail(step, cudaGetErrorString(status));
}

static void readBytes(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) fail(path, "missing, or not of the expected length");
    in.seekg(0);
    if (!in.read(static_cast<char*>(target), bytes)) fail(path, "read error");
}

static void writeBytes(const char* path, const void* source, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(source), bytes);
    out.close();
    if (!out) fail(path, "write error");
}

int main() {
    int sizes[2];
    readBytes("data/sizes.bin", sizes, sizeof(sizes));
    const int height = sizes[0], quads = sizes[1];
    if (height < 1 || height > kMaxHeight || quads < 1 || quads > kMaxQuads) {
        fail("data/sizes.bin", "height or quads is out of range");
    }
    const size_t pixels = static_cast<size_t>(height) * quads * kPixels;
    std::vector<uint8_t> image(pixels);
    std::vector<uint16_t> result(pixels);
    readBytes("data/gray.bin", image.data(), pixels);

    uint8_t* gray = nullptr;
    ushort4* magnitude = nullptr;
    const size_t resultBytes = pixels * sizeof(uint16_t);
    check(cudaMalloc(&gray, pixels), "allocating the image");
    check(cudaMalloc(&magnitude, resultBytes), "allocating the result");
    check(cudaMemcpy(gray, image.data(), pixels, cudaMemcpyHostToDevice), "copying the image");

    const dim3 block(64, 4);
    const dim3 grid((quads + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    sobel<<<grid, block>>>(gray, magnitude, height, quads);
    check(cudaGetLastError(), "sobel");

    check(cudaMemcpy(result.data(), magnitude, resultBytes, cudaMemcpyDeviceToHost), "copying the result");
    check(cudaFree(gray), "cudaFree");
    check(cudaFree(magnitude), "cudaFree");
    writeBytes("data/magnitude.bin", result.data(), resultBytes);
    return EXIT_SUCCESS;
}
