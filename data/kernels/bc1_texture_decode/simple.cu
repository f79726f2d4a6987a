#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

// One thread decodes one texel.
__global__ void decodeTexels(const unsigned char* blocks, unsigned char* texels, int blockCols, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int x = i % (4 * blockCols), y = i / (4 * blockCols);
    const unsigned char* block = blocks + 8 * ((size_t)(y / 4) * blockCols + x / 4);
    int c[2] = {block[0] + 256 * block[1], block[2] + 256 * block[3]};
    int code = block[4 + y % 4] >> (2 * (x % 4)) & 3;
    int end[2][3];
    for (int e = 0; e < 2; ++e) {
        int red = c[e] >> 11, green = c[e] >> 5 & 63, blue = c[e] & 31;
        end[e][0] = 8 * red + red / 4;
        end[e][1] = 4 * green + green / 16;
        end[e][2] = 8 * blue + blue / 4;
    }
    unsigned char* out = texels + 4 * (size_t)i;
    out[3] = c[0] <= c[1] && code == 3 ? 0 : 255;
    for (int k = 0; k < 3; ++k) {
        int a = end[0][k], b = end[1][k], value;
        if (code == 0) {
            value = a;
        } else if (code == 1) {
            value = b;
        } else if (c[0] > c[1]) {
            value = code == 2 ? (2 * a + b + 1) / 3 : (a + 2 * b + 1) / 3;
        } else {
            value = code == 2 ? (a + b) / 2 : 0;
        }
        out[k] = (unsigned char)value;
    }
}

static void require(bool good, const char* message) {
    if (!good) {
        std::fprintf(stderr, "%s\n", message);
        std::exit(1);
    }
}

static void cuda(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

int main() {
    int sizes[2];
    FILE* f = std::fopen("data/sizes.bin", "rb");
    require(f && std::fread(sizes, 4, 2, f) == 2 && std::fgetc(f) == EOF, "data/sizes.bin: wrong length");
    std::fclose(f);
    require(sizes[0] >= 1 && sizes[0] <= 4096 && sizes[1] >= 1 && sizes[1] <= 4096, "sizes are out of range");
    size_t count = (size_t)sizes[0] * sizes[1];
    std::vector<unsigned char> blocks(8 * count), texels(64 * count);
    f = std::fopen("data/blocks.bin", "rb");
    require(f && std::fread(blocks.data(), 1, blocks.size(), f) == blocks.size() && std::fgetc(f) == EOF,
            "data/blocks.bin: wrong length");
    std::fclose(f);

    unsigned char *dBlocks, *dTexels;
    cuda(cudaMalloc(&dBlocks, blocks.size()));
    cuda(cudaMalloc(&dTexels, texels.size()));
    cuda(cudaMemcpy(dBlocks, blocks.data(), blocks.size(), cudaMemcpyHostToDevice));
    int total = (int)(16 * count);
    decodeTexels<<<(total + 255) / 256, 256>>>(dBlocks, dTexels, sizes[1], total);
    cuda(cudaGetLastError());
    cuda(cudaMemcpy(texels.data(), dTexels, texels.size(), cudaMemcpyDeviceToHost));
    cuda(cudaFree(dBlocks));
    cuda(cudaFree(dTexels));

    f = std::fopen("data/texels.bin", "wb");
    require(f && std::fwrite(texels.data(), 1, texels.size(), f) == texels.size() && std::fclose(f) == 0,
            "data/texels.bin: cannot be written");
    return 0;
}
