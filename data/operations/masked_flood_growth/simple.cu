#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int HEIGHT = 64;
constexpr int WIDTH = 100;
constexpr int ROUNDS = 6;

inline void checkCuda(cudaError_t e, const char* msg) {
    if (e != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(e));
        exit(1);
    }
}

static bool read_file(const char* path, void* p, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(p, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

static bool write_file(const char* path, const void* p, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(p, 1, bytes, f);
    return fclose(f) == 0 && put == bytes;
}

__global__ void plant(const unsigned char* seeds, int* arrival, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) arrival[i] = seeds[i] ? 0 : -1;
}

__global__ void grow(const unsigned char* passable, const int* before, int* after, int k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    int i = y * WIDTH + x;
    int value = before[i];
    if (value < 0 && passable[i]) {
        for (int yy = max(y - 1, 0); yy <= min(y + 1, HEIGHT - 1); ++yy)
            for (int xx = max(x - 1, 0); xx <= min(x + 1, WIDTH - 1); ++xx)
                if (before[yy * WIDTH + xx] >= 0) value = k;
    }
    after[i] = value;
}

int main() {
    const size_t size = HEIGHT * WIDTH;
    std::vector<unsigned char> hSeeds(size);
    std::vector<unsigned char> hPassable(size);
    std::vector<int> hArrival(size);
    if (!read_file("data/seeds.bin", hSeeds.data(), size * sizeof(unsigned char))) {
        fprintf(stderr, "cannot read seeds\n");
        return 1;
    }
    if (!read_file("data/passable.bin", hPassable.data(), size * sizeof(unsigned char))) {
        fprintf(stderr, "cannot read passable\n");
        return 1;
    }

    unsigned char* dSeeds = nullptr;
    checkCuda(cudaMalloc(&dSeeds, size * sizeof(unsigned char)), "malloc seeds");
    unsigned char* dPassable = nullptr;
    checkCuda(cudaMalloc(&dPassable, size * sizeof(unsigned char)), "malloc passable");
    int* dArrival = nullptr;
    checkCuda(cudaMalloc(&dArrival, size * sizeof(int)), "malloc arrival");
    int* dWork = nullptr;
    checkCuda(cudaMalloc(&dWork, size * sizeof(int)), "malloc work");
    checkCuda(cudaMemcpy(dSeeds, hSeeds.data(), size * sizeof(unsigned char), cudaMemcpyHostToDevice), "copy seeds");
    checkCuda(cudaMemcpy(dPassable, hPassable.data(), size * sizeof(unsigned char), cudaMemcpyHostToDevice),
            "copy passable");

    const int pixels = HEIGHT * WIDTH;
    int* now = dArrival;
    int* next = dWork;
    plant<<<(pixels + 255) / 256, 256>>>(dSeeds, now, pixels);
    dim3 block(16, 16);
    dim3 grid((WIDTH + 15) / 16, (HEIGHT + 15) / 16);
    for (int k = 1; k <= ROUNDS; ++k) {
        grow<<<grid, block>>>(dPassable, now, next, k);
        int* t = now;
        now = next;
        next = t;
    }
    if (now != dArrival) cudaMemcpy(dArrival, now, pixels * sizeof(int), cudaMemcpyDeviceToDevice);
    checkCuda(cudaGetLastError(), "launch");

    checkCuda(cudaMemcpy(hArrival.data(), dArrival, size * sizeof(int), cudaMemcpyDeviceToHost), "copy arrival");
    if (!write_file("data/arrival.bin", hArrival.data(), size * sizeof(int))) return 1;
    cudaFree(dSeeds);
    cudaFree(dPassable);
    cudaFree(dArrival);
    cudaFree(dWork);
    return 0;
}
