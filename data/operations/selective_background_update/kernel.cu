#include <cstdio>
#include <cuda_runtime.h>

#define COUNT 10
#define HEIGHT 40
#define WIDTH 50
#define PLANE (HEIGHT * WIDTH)
#define PAIRS ((PLANE + 1) / 2)

struct Model {
    int level, seen;
    __device__ void feed(int value) {
        const int d = 256 * value - level;
        const bool out = d > 6400 || d < -6400;
        level += out ? (d > 0 ? 8 : -8) : d >> 4;
        seen += out;
    }
};

// Two neighbouring pixels a thread; the frame values of the next step are fetched ahead.
__global__ void update_pairs(const unsigned char* __restrict__ frames, const int* __restrict__ initial,
                             int* __restrict__ background, int* __restrict__ foreground) {
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= PLANE) return;
    const int j = min(i + 1, PLANE - 1);
    Model a = {initial[i], 0}, b = {initial[j], 0};
    int va = frames[i], vb = frames[j];
    for (int k = 1; k <= COUNT; ++k) {
        int na = 0, nb = 0;
        if (k < COUNT) {
            na = frames[(size_t)k * PLANE + i];
            nb = frames[(size_t)k * PLANE + j];
        }
        a.feed(va);
        b.feed(vb);
        va = na;
        vb = nb;
    }
    background[i] = a.level;
    foreground[i] = a.seen;
    if (j != i) {
        background[j] = b.level;
        foreground[j] = b.seen;
    }
}

int main() {
    const size_t frames_count = COUNT * HEIGHT * WIDTH;
    const size_t initial_count = HEIGHT * WIDTH;
    unsigned char *frames;
    int *initial, *background, *foreground;
    cudaMallocManaged(&frames, frames_count * sizeof(unsigned char));
    cudaMallocManaged(&initial, initial_count * sizeof(int));
    cudaMallocManaged(&background, initial_count * sizeof(int));
    cudaMallocManaged(&foreground, initial_count * sizeof(int));

    FILE* fp = fopen("data/frames.bin", "rb");
    if (fp == NULL || fread(frames, sizeof(unsigned char), frames_count, fp) != frames_count) {
        fprintf(stderr, "bad input: data/frames.bin\n");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/initial.bin", "rb");
    if (fp == NULL || fread(initial, sizeof(int), initial_count, fp) != initial_count) {
        fprintf(stderr, "bad input: data/initial.bin\n");
        return 1;
    }
    fclose(fp);

    update_pairs<<<(PAIRS + 128 - 1) / 128, 128>>>(frames, initial, background, foreground);
    cudaDeviceSynchronize();

    FILE* out = fopen("data/background.bin", "wb");
    fwrite(background, sizeof(int), initial_count, out);
    fclose(out);
    out = fopen("data/foreground.bin", "wb");
    fwrite(foreground, sizeof(int), initial_count, out);
    fclose(out);
    cudaFree(frames);
    cudaFree(initial);
    cudaFree(background);
    cudaFree(foreground);
    return 0;
}
