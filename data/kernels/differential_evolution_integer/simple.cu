#include <cuda_runtime.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// One gene of the trial vector of an individual.
__device__ int trialGene(const int16_t* vectors, const int* picks, const int* forced, const uint8_t* dice, int who,
                         int gene, int genes, int factor, int rate, int bound) {
    size_t at = (size_t)who * genes + gene;
    if (gene != forced[who] && dice[at] >= rate) return vectors[at];
    int a = vectors[(size_t)picks[3 * who] * genes + gene];
    int b = vectors[(size_t)picks[3 * who + 1] * genes + gene];
    int c = vectors[(size_t)picks[3 * who + 2] * genes + gene];
    return min(max(a + ((factor * (b - c)) >> 8), -bound), bound);
}

// A thread makes a trial vector in its row of `survivors`, and puts the parent back if the parent is better.
__global__ void evolve(const int16_t* vectors, const int16_t* center, const int* picks, const int* forced,
                       const uint8_t* dice, int16_t* survivors, int64_t* costs, int population, int genes, int factor,
                       int rate, int bound) {
    int who = blockIdx.x * blockDim.x + threadIdx.x;
    if (who >= population) return;
    const int16_t* parent = vectors + (size_t)who * genes;
    int16_t* trial = survivors + (size_t)who * genes;
    for (int g = 0; g < genes; ++g) {
        trial[g] = trialGene(vectors, picks, forced, dice, who, g, genes, factor, rate, bound);
    }
    int64_t oldCost = 0, newCost = 0;
    for (int g = 0; g < genes; ++g) {
        int next = (g + 1) % genes;
        int64_t off = parent[g] - center[g];
        oldCost += off * off + 64 * abs(parent[g] - parent[next]);
        off = trial[g] - center[g];
        newCost += off * off + 64 * abs(trial[g] - trial[next]);
    }
    if (newCost > oldCost) {
        for (int g = 0; g < genes; ++g) trial[g] = parent[g];
    }
    costs[who] = newCost > oldCost ? oldCost : newCost;
}

static void expect(bool good, const char* what) {
    if (good) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void gpu(cudaError_t status) { expect(status == cudaSuccess, cudaGetErrorString(status)); }

// Reads a file into managed memory.
static void* load(const char* path, size_t bytes) {
    void* memory = NULL;
    gpu(cudaMallocManaged(&memory, bytes));
    FILE* file = fopen(path, "rb");
    expect(file != NULL, path);
    expect(fread(memory, 1, bytes, file) == bytes && fgetc(file) == EOF, path);
    fclose(file);
    return memory;
}

static void store(const char* path, const void* memory, size_t bytes) {
    FILE* file = fopen(path, "wb");
    expect(file && fwrite(memory, 1, bytes, file) == bytes, path);
    expect(fclose(file) == 0, path);
}

int main() {
    int* sizes = (int*)load("data/sizes.bin", 2 * sizeof(int));
    int population = sizes[0], genes = sizes[1];
    expect(population >= 4 && population <= 65536 && genes >= 2 && genes <= 256, "data/sizes.bin");
    int* settings = (int*)load("data/settings.bin", 3 * sizeof(int));
    int factor = settings[0], rate = settings[1], bound = settings[2];
    expect(factor >= 0 && factor <= 512 && rate >= 0 && rate <= 256, "data/settings.bin");
    expect(bound >= 1 && bound <= 32767, "data/settings.bin");
    size_t cells = (size_t)population * genes;
    int16_t* vectors = (int16_t*)load("data/vectors.bin", cells * sizeof(int16_t));
    int16_t* center = (int16_t*)load("data/center.bin", genes * sizeof(int16_t));
    int* picks = (int*)load("data/picks.bin", 3 * (size_t)population * sizeof(int));
    int* forced = (int*)load("data/forced.bin", population * sizeof(int));
    uint8_t* dice = (uint8_t*)load("data/dice.bin", cells);
    for (int i = 0; i < 3 * population; ++i) expect(picks[i] >= 0 && picks[i] < population, "data/picks.bin");
    for (int i = 0; i < population; ++i) expect(forced[i] >= 0 && forced[i] < genes, "data/forced.bin");
    int16_t* survivors = NULL;
    int64_t* costs = NULL;
    gpu(cudaMallocManaged(&survivors, cells * sizeof(int16_t)));
    gpu(cudaMallocManaged(&costs, population * sizeof(int64_t)));

    evolve<<<(population + 127) / 128, 128>>>(vectors, center, picks, forced, dice, survivors, costs, population,
                                              genes, factor, rate, bound);
    gpu(cudaGetLastError());
    gpu(cudaDeviceSynchronize());
    int best = 0;
    for (int i = 1; i < population; ++i) {
        if (costs[i] < costs[best]) best = i;
    }
    store("data/survivors.bin", survivors, cells * sizeof(int16_t));
    store("data/costs.bin", costs, population * sizeof(int64_t));
    store("data/best.bin", &best, sizeof best);
    return 0;
}
