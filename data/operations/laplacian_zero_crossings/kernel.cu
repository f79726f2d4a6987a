#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void read_binary(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void write_binary(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

const int HEIGHT = 50;
const int WIDTH = 66;
const int TX = 32;
const int TY = 8;

static int ceilDiv(int a, int b) { return (a + b - 1) / b; }

// One pass: the tile of pixels reaches one further on the left and top, two on the right and bottom.
__global__ void zero_crossings(const int* __restrict__ image, int* __restrict__ laplacian,
                               unsigned char* __restrict__ crossing) {
    __shared__ int pix[TY + 3][TX + 3];
    __shared__ int lap[TY + 1][TX + 1];
    const int x0 = blockIdx.x * TX, y0 = blockIdx.y * TY;
    const int t = threadIdx.y * TX + threadIdx.x;
    for (int k = t; k < (TY + 3) * (TX + 3); k += TX * TY) {
        int r = k / (TX + 3), c = k % (TX + 3);
        int y = min(max(y0 + r - 1, 0), HEIGHT - 1), x = min(max(x0 + c - 1, 0), WIDTH - 1);
        pix[r][c] = image[y * WIDTH + x];
    }
    __syncthreads();
    for (int k = t; k < (TY + 1) * (TX + 1); k += TX * TY) {
        int r = k / (TX + 1), c = k % (TX + 1);
        int sum = 0;
        for (int dy = 0; dy < 3; ++dy) sum += pix[r + dy][c] + pix[r + dy][c + 1] + pix[r + dy][c + 2];
        lap[r][c] = 9 * pix[r + 1][c + 1] - sum;
    }
    __syncthreads();
    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    const int here = lap[threadIdx.y][threadIdx.x];
    const int right = x + 1 < WIDTH ? lap[threadIdx.y][threadIdx.x + 1] : 0;
    const int below = y + 1 < HEIGHT ? lap[threadIdx.y + 1][threadIdx.x] : 0;
    bool mark = here != 0 && right != 0 && (here ^ right) < 0 && abs(here - right) > 40;
    mark |= here != 0 && below != 0 && (here ^ below) < 0 && abs(here - below) > 40;
    laplacian[y * WIDTH + x] = here;
    crossing[y * WIDTH + x] = mark;
}

int main() {
    const size_t total = HEIGHT * WIDTH;
    const size_t bytes_image = total * sizeof(int);
    const size_t bytes_laplacian = total * sizeof(int);
    const size_t bytes_crossing = total * sizeof(unsigned char);
    int* h_image = (int*)malloc(bytes_image);
    int* h_laplacian = (int*)malloc(bytes_laplacian);
    unsigned char* h_crossing = (unsigned char*)malloc(bytes_crossing);
    read_binary("data/image.bin", h_image, bytes_image);

    int *d_image, *d_laplacian;
    unsigned char *d_crossing;
    cudaMalloc(&d_image, bytes_image);
    cudaMalloc(&d_laplacian, bytes_laplacian);
    cudaMalloc(&d_crossing, bytes_crossing);
    cudaMemcpy(d_image, h_image, bytes_image, cudaMemcpyHostToDevice);

    dim3 block(TX, TY), grid(ceilDiv(WIDTH, TX), ceilDiv(HEIGHT, TY));
    zero_crossings<<<grid, block>>>(d_image, d_laplacian, d_crossing);

    cudaMemcpy(h_laplacian, d_laplacian, bytes_laplacian, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_crossing, d_crossing, bytes_crossing, cudaMemcpyDeviceToHost);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "GPU error\n");
        return 1;
    }
    write_binary("data/laplacian.bin", h_laplacian, bytes_laplacian);
    write_binary("data/crossing.bin", h_crossing, bytes_crossing);

    cudaFree(d_image);
    cudaFree(d_laplacian);
    cudaFree(d_crossing);
    free(h_image);
    free(h_laplacian);
    free(h_crossing);
    return 0;
}
