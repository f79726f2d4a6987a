#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void load(const char* filename, void* ptr, size_t bytes) {
    FILE* f = fopen(filename, "rb");
    size_t got = f ? fread(ptr, 1, bytes, f) : 0;
    if (got != bytes) {
        fprintf(stderr, "%s: short read\n", filename);
        exit(1);
    }
    fclose(f);
}

void save(const char* filename, const void* ptr, size_t bytes) {
    FILE* f = fopen(filename, "wb");
    if (!f || fwrite(ptr, 1, bytes, f) != bytes) {
        fprintf(stderr, "%s: write failed\n", filename);
        exit(1);
    }
    fclose(f);
}
//@given

const int HEIGHT = 80;
const int WIDTH = 120;
const int PASSES = 2;
#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

__device__ int pixel(const unsigned char* s, int y, int x) {
    return x >= 0 && y >= 0 && x < WIDTH && y < HEIGHT ? s[y * WIDTH + x] : 0;
}

__global__ void thin_half(const unsigned char* s, unsigned char* out, int half) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    const int dy[8] = {-1, -1, 0, 1, 1, 1, 0, -1};
    const int dx[8] = {0, 1, 1, 1, 0, -1, -1, -1};
    int p[8];
    for (int k = 0; k < 8; ++k) p[k] = pixel(s, y + dy[k], x + dx[k]);
    int ones = 0, steps = 0;
    for (int k = 0; k < 8; ++k) {
        ones += p[k];
        steps += p[k] == 0 && p[(k + 1) % 8] == 1;
    }
    bool open;
    if (half == 0) open = p[0] * p[2] * p[4] == 0 && p[2] * p[4] * p[6] == 0;
    else open = p[0] * p[2] * p[6] == 0 && p[0] * p[4] * p[6] == 0;
    bool erase = ones >= 2 && ones <= 6 && steps == 1 && open;
    out[y * WIDTH + x] = erase ? 0 : s[y * WIDTH + x];
}

int main() {
    const size_t num = HEIGHT * WIDTH;

    unsigned char* h_shape_in = new unsigned char[num];
    unsigned char* h_shape_out = new unsigned char[num];
    unsigned char *d_shape_in;
    unsigned char *d_shape_out;
    unsigned char *d_scratch;
    cudaMalloc(&d_shape_in, num * sizeof(unsigned char));
    cudaMalloc((void**)&d_shape_out, num * sizeof(unsigned char));
    cudaMalloc(&d_scratch, num * sizeof(unsigned char));

    load("data/shape_in.bin", h_shape_in, num * sizeof(unsigned char));
    cudaMemcpy(d_shape_in, h_shape_in, num * sizeof(unsigned char), cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid(DIV_UP(WIDTH, 32), DIV_UP(HEIGHT, 8));
    for (int k = 0; k < PASSES; ++k) {
        const unsigned char* src = k == 0 ? d_shape_in : d_shape_out;
        thin_half<<<grid, block>>>(src, d_scratch, 0);
        thin_half<<<grid, block>>>(d_scratch, d_shape_out, 1);
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_shape_out, d_shape_out, num * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    save("data/shape_out.bin", h_shape_out, num * sizeof(unsigned char));

    delete[] h_shape_in;
    delete[] h_shape_out;
    cudaFree(d_shape_in);
    cudaFree(d_shape_out);
    cudaFree(d_scratch);
    return 0;
}
