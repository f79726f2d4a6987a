#include <cstdio>
#include <cuda_runtime.h>

const int HEIGHT = 60;
const int WIDTH = 90;
const int RADIUS = 4;

// Column sums over the window height; the second kernel adds them along the row.
__global__ void column_sums(const unsigned char* page, int* sums, int* squares) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= WIDTH) return;
    int s = 0, q = 0;
    for (int yy = max(y - RADIUS, 0); yy <= min(y + RADIUS, HEIGHT - 1); ++yy) {
        int v = page[yy * WIDTH + x];
        s += v;
        q += v * v;
    }
    sums[y * WIDTH + x] = s;
    squares[y * WIDTH + x] = q;
}

__global__ void decide(const unsigned char* page, const int* sums, const int* squares, unsigned char* ink) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= WIDTH) return;
    int x0 = max(x - RADIUS, 0), x1 = min(x + RADIUS, WIDTH - 1);
    int high = min(y + RADIUS, HEIGHT - 1) - max(y - RADIUS, 0) + 1;
    int n = high * (x1 - x0 + 1), s = 0;
    long long q = 0;
    for (int xx = x0; xx <= x1; ++xx) {
        s += sums[y * WIDTH + xx];
        q += squares[y * WIDTH + xx];
    }
    // n^2 times the variance is a whole number
    float spread = (float)(n * q - (long long)s * s);
    float mean = (float)s / n;
    float limit = mean * (0.8f + 0.2f / 128.0f * sqrtf(spread) / n);
    ink[y * WIDTH + x] = (float)page[y * WIDTH + x] <= limit;
}

int main() {
    const int n = HEIGHT * WIDTH;
    unsigned char *page, *ink;
    int *sums, *squares;
    cudaMallocManaged(&page, n * sizeof(unsigned char));
    cudaMallocManaged(&ink, n * sizeof(unsigned char));
    cudaMallocManaged(&sums, n * sizeof(int));
    cudaMallocManaged(&squares, n * sizeof(int));

    FILE* f = fopen("data/page.bin", "rb");
    if (!f || fread(page, sizeof(unsigned char), n, f) != (size_t)n) {
        fprintf(stderr, "data/page.bin?\n");
        return 1;
    }
    fclose(f);

    dim3 grid((WIDTH + 127) / 128, HEIGHT);
    column_sums<<<grid, 128>>>(page, sums, squares);
    decide<<<grid, 128>>>(page, sums, squares, ink);
    cudaDeviceSynchronize();

    FILE* o0 = fopen("data/ink.bin", "wb");
    fwrite(ink, sizeof(unsigned char), n, o0);
    fclose(o0);
    cudaFree(page);
    cudaFree(ink);
    cudaFree(sums);
    cudaFree(squares);
    return 0;
}
