#include <cstdint>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

const int HEIGHT = 40;
const int WIDTH = 100;
const int PIXELS = HEIGHT * WIDTH;
const int BLOCK = 256;

// All 3 x 256 answers are computed once a block: the new value and the level number.
__global__ void posterize_tables(const uint8_t* __restrict__ picture, const int* __restrict__ levels,
                                 uint8_t* __restrict__ poster, int* __restrict__ code) {
    __shared__ uchar2 table[3][256];
    for (int c = 0; c < 3; ++c) {
        const int steps = levels[c] - 1, v = threadIdx.x;
        const int q = (2 * v * steps + 255) / 510;
        table[c][v] = make_uchar2((510 * q + steps) / (2 * steps), q);
    }
    __syncthreads();
    const int l0 = levels[0], l1 = levels[1];
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < PIXELS; i += gridDim.x * BLOCK) {
        const uchar2 r = table[0][picture[3 * i]];
        const uchar2 g = table[1][picture[3 * i + 1]];
        const uchar2 b = table[2][picture[3 * i + 2]];
        poster[3 * i] = r.x;
        poster[3 * i + 1] = g.x;
        poster[3 * i + 2] = b.x;
        code[i] = r.y + l0 * (g.y + l1 * b.y);
    }
}

int main() {
    const size_t num_picture = (size_t)HEIGHT * WIDTH * 3;
    const size_t num_code = HEIGHT * WIDTH;
    std::vector<uint8_t> picture(num_picture);
    std::vector<int> levels(3);
    std::vector<uint8_t> poster(num_picture);
    std::vector<int> code(num_code);
    FILE* f_picture = fopen("data/picture.bin", "rb");
    if (!f_picture || !fread(picture.data(), num_picture * sizeof(uint8_t), 1, f_picture)) return 1;
    fclose(f_picture);
    FILE* f_levels = fopen("data/levels.bin", "rb");
    if (!f_levels || !fread(levels.data(), 3 * sizeof(int), 1, f_levels)) return 1;
    fclose(f_levels);
    uint8_t* d_picture; cudaMalloc(&d_picture, num_picture * sizeof(uint8_t));
    int* d_levels; cudaMalloc(&d_levels, 3 * sizeof(int));
    uint8_t* d_poster; cudaMalloc(&d_poster, num_picture * sizeof(uint8_t));
    int* d_code; cudaMalloc(&d_code, num_code * sizeof(int));
    cudaMemcpy(d_picture, picture.data(), num_picture * sizeof(uint8_t), cudaMemcpyHostToDevice);
    cudaMemcpy(d_levels, levels.data(), 3 * sizeof(int), cudaMemcpyHostToDevice);
    int blocks = (PIXELS + BLOCK - 1) / BLOCK;
    if (blocks > 1000) blocks = 1000;
    posterize_tables<<<blocks, BLOCK>>>(d_picture, d_levels, d_poster, d_code);
    cudaMemcpy(poster.data(), d_poster, num_picture * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    cudaMemcpy(code.data(), d_code, num_code * sizeof(int), cudaMemcpyDeviceToHost);
    FILE* o_poster = fopen("data/poster.bin", "wb");
    fwrite(poster.data(), sizeof(uint8_t), num_picture, o_poster);
    fclose(o_poster);
    FILE* o_code = fopen("data/code.bin", "wb");
    fwrite(code.data(), sizeof(int), num_code, o_code);
    fclose(o_code);
    return 0;
}
