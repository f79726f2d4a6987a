#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int HEIGHT = 64;
static const int WIDTH = 100;
static const int ROUNDS = 6;

const int TILE = 16;
const int SIDE = TILE + 2 * ROUNDS;

// A block keeps its tile and a margin of as many pixels as there are rounds in shared memory.
__global__ void grow_tile(const unsigned char* seeds, const unsigned char* passable, int* arrival) {
    __shared__ signed char reached[SIDE * SIDE];
    __shared__ unsigned char open[SIDE * SIDE], fresh[SIDE * SIDE];
    const int x0 = blockIdx.x * TILE - ROUNDS, y0 = blockIdx.y * TILE - ROUNDS;
    for (int i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) {
        int x = x0 + i % SIDE, y = y0 + i / SIDE;
        bool in = x >= 0 && y >= 0 && x < WIDTH && y < HEIGHT;
        reached[i] = in && seeds[y * WIDTH + x] ? 0 : -1;
        open[i] = in ? passable[y * WIDTH + x] : 0;
    }
    __syncthreads();
    for (int k = 1; k <= ROUNDS; ++k) {
        for (int i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) {
            fresh[i] = 0;
            if (reached[i] >= 0 || !open[i]) continue;
            int x = i % SIDE, y = i / SIDE;
            for (int yy = max(y - 1, 0); yy <= min(y + 1, SIDE - 1); ++yy)
                for (int xx = max(x - 1, 0); xx <= min(x + 1, SIDE - 1); ++xx)
                    if (reached[yy * SIDE + xx] >= 0) fresh[i] = 1;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x)
            if (fresh[i]) reached[i] = k;
        __syncthreads();
    }
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x) {
        int lx = i % TILE, ly = i / TILE;
        int x = blockIdx.x * TILE + lx, y = blockIdx.y * TILE + ly;
        if (x < WIDTH && y < HEIGHT) arrival[y * WIDTH + x] = reached[(ly + ROUNDS) * SIDE + lx + ROUNDS];
    }
}

void launch_all(const unsigned char* d_seeds, const unsigned char* d_passable, int* d_arrival) {
    dim3 grid((WIDTH + TILE - 1) / TILE, (HEIGHT + TILE - 1) / TILE);
    grow_tile<<<grid, 256>>>(d_seeds, d_passable, d_arrival);
}

int main() {
    const int elements = HEIGHT * WIDTH;
    std::vector<unsigned char> h_seeds(elements);
    std::vector<unsigned char> h_passable(elements);
    std::vector<int> h_arrival(elements);
    FILE* f = fopen("data/seeds.bin", "rb");
    if (!f || fread(h_seeds.data(), sizeof(unsigned char), h_seeds.size(), f) != h_seeds.size()) {
        fprintf(stderr, "error reading seeds\n");
        return EXIT_FAILURE;
    }
    fclose(f);
    f = fopen("data/passable.bin", "rb");
    if (!f || fread(h_passable.data(), sizeof(unsigned char), h_passable.size(), f) != h_passable.size()) {
        fprintf(stderr, "error reading passable\n");
        return EXIT_FAILURE;
    }
    fclose(f);

    unsigned char* d_seeds;
    unsigned char* d_passable;
    int* d_arrival;
    cudaMalloc(&d_seeds, elements * sizeof(unsigned char));
    cudaMalloc(&d_passable, elements * sizeof(unsigned char));
    cudaMalloc(&d_arrival, elements * sizeof(int));
    cudaMemcpy(d_seeds, h_seeds.data(), elements * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemcpy(d_passable, h_passable.data(), elements * sizeof(unsigned char), cudaMemcpyHostToDevice);

    launch_all(d_seeds, d_passable, d_arrival);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    cudaMemcpy(h_arrival.data(), d_arrival, elements * sizeof(int), cudaMemcpyDeviceToHost);
    f = fopen("data/arrival.bin", "wb");
    if (!f || fwrite(h_arrival.data(), sizeof(int), h_arrival.size(), f) != h_arrival.size()) return EXIT_FAILURE;
    fclose(f);
    cudaFree(d_seeds);
    cudaFree(d_passable);
    cudaFree(d_arrival);
    return 0;
}
