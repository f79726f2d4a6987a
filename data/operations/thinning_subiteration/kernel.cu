#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int HEIGHT = 80;
const int WIDTH = 120;
const int PASSES = 2;

// The eight neighbours become the bits of a byte; tests on the byte replace the arithmetic.
__global__ void thin_bits(const unsigned char* __restrict__ s, unsigned char* __restrict__ out, int half) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y;
    if (x >= WIDTH) return;
    const unsigned char* row = s + (size_t)y * WIDTH + x;
    unsigned char value = row[0];
    if (value) {
        const bool up = y > 0, down = y < HEIGHT - 1, left = x > 0, right = x < WIDTH - 1;
        unsigned int b = 0;
        if (up) b |= row[-WIDTH];
        if (up && right) b |= row[1 - WIDTH] << 1;
        if (right) b |= row[1] << 2;
        if (down && right) b |= row[WIDTH + 1] << 3;
        if (down) b |= row[WIDTH] << 4;
        if (down && left) b |= row[WIDTH - 1] << 5;
        if (left) b |= row[-1] << 6;
        if (up && left) b |= row[-WIDTH - 1] << 7;
        const unsigned int turned = (b >> 1 | b << 7) & 255u;
        const int ones = __popc(b);
        const int rises = __popc(~b & turned);
        const unsigned int first = half == 0 ? 0x15u : 0x45u;
        const unsigned int second = half == 0 ? 0x54u : 0x51u;
        if (ones >= 2 && ones <= 6 && rises == 1 && (b & first) != first && (b & second) != second) value = 0;
    }
    out[(size_t)y * WIDTH + x] = value;
}

int main() {
    const int size = HEIGHT * WIDTH;
    std::vector<unsigned char> h_shape_in(size);
    std::vector<unsigned char> h_shape_out(size);
    std::ifstream in("data/shape_in.bin", std::ios::binary);
    in.read((char*)h_shape_in.data(), h_shape_in.size() * sizeof(unsigned char));
    if (!in) {
        std::cerr << "cannot read data/shape_in.bin\n";
        return 1;
    }

    unsigned char* d_shape_in;
    unsigned char* d_shape_out;
    unsigned char* d_mid;
    cudaMalloc(&d_shape_in, size * sizeof(unsigned char));
    cudaMalloc(&d_shape_out, size * sizeof(unsigned char));
    cudaMalloc(&d_mid, size * sizeof(unsigned char));
    cudaMemcpy(d_shape_in, h_shape_in.data(), size * sizeof(unsigned char), cudaMemcpyHostToDevice);

    dim3 grid((WIDTH + 255) / 256, HEIGHT);
    const unsigned char* from = d_shape_in;
    for (int half = 0; half < 2 * PASSES; ++half) {
        unsigned char* to = half % 2 == 0 ? d_mid : d_shape_out;
        thin_bits<<<grid, 256>>>(from, to, half % 2);
        from = to;
    }

    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess) {
        std::cerr << cudaGetErrorString(result) << std::endl;
        return 1;
    }

    cudaMemcpy(h_shape_out.data(), d_shape_out, size * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream out("data/shape_out.bin", std::ios::binary);
    out.write((const char*)h_shape_out.data(), h_shape_out.size() * sizeof(unsigned char));
    cudaFree(d_shape_in);
    cudaFree(d_shape_out);
    cudaFree(d_mid);
    return 0;
}
