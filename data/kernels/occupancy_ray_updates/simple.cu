#include <cuda_runtime.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// One thread a ray: an integer line walk (Bresenham) with an error term for each axis.
__global__ void walkRays(const int* starts, const int* ends, const uint8_t* returned, int* hits, int* misses, int rays,
                         int nx, int ny) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rays) return;
    int at[3], delta[3], direction[3], error[3], n = 0;
    for (int axis = 0; axis < 3; ++axis) {
        at[axis] = starts[3 * r + axis];
        delta[axis] = ends[3 * r + axis] - at[axis];
        direction[axis] = delta[axis] < 0 ? -1 : 1;
        if (abs(delta[axis]) > n) n = abs(delta[axis]);
    }
    // The step is due when twice the travelled way is beyond half a cell; upwards already when it is equal.
    for (int axis = 0; axis < 3; ++axis) error[axis] = direction[axis] > 0 ? -n : -n - 1;
    for (int k = 0; k < n; ++k) {
        atomicAdd(&misses[((size_t)at[2] * ny + at[1]) * nx + at[0]], 1);
        for (int axis = 0; axis < 3; ++axis) {
            error[axis] += 2 * abs(delta[axis]);
            if (error[axis] >= 0) {
                at[axis] += direction[axis];
                error[axis] -= 2 * n;
            }
        }
    }
    size_t last = ((size_t)ends[3 * r + 2] * ny + ends[3 * r + 1]) * nx + ends[3 * r];
    atomicAdd(returned[r] ? &hits[last] : &misses[last], 1);
}

// One thread a cell.
__global__ void update(const int* hits, const int* misses, int16_t* belief, int cells, int gain, int loss, int limit,
                       int* seen) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cells) return;
    int64_t value = belief[i] + (int64_t)gain * hits[i] - (int64_t)loss * misses[i];
    if (value > limit) value = limit;
    if (value < -limit) value = -limit;
    belief[i] = (int16_t)value;
    if (hits[i] > 0 || misses[i] > 0) atomicAdd(&seen[0], 1);
    if (hits[i] > 0) atomicAdd(&seen[1], 1);
}

static void die(const char* what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void ok(cudaError_t status) {
    if (status != cudaSuccess) die(cudaGetErrorString(status));
}

static void* zeroed(size_t bytes) {
    void* memory = NULL;
    ok(cudaMallocManaged(&memory, bytes));
    ok(cudaMemset(memory, 0, bytes));
    ok(cudaDeviceSynchronize());
    return memory;
}

static void* load(const char* path, size_t bytes) {
    void* memory = zeroed(bytes);
    FILE* file = fopen(path, "rb");
    if (!file || fread(memory, 1, bytes, file) != bytes || fgetc(file) != EOF) die(path);
    fclose(file);
    return memory;
}

static void save(const char* path, const void* memory, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(memory, 1, bytes, file) != bytes || fclose(file) != 0) die(path);
}

int main() {
    int* sizes = (int*)load("data/sizes.bin", 4 * sizeof(int));
    int rays = sizes[0], *side = sizes + 1;
    if (rays < 1 || rays > 1000000) die("data/sizes.bin: rays");
    for (int axis = 0; axis < 3; ++axis) {
        if (side[axis] < 1 || side[axis] > 512) die("data/sizes.bin: the grid");
    }
    int cells = side[0] * side[1] * side[2];
    int* rule = (int*)load("data/rule.bin", 3 * sizeof(int));
    for (int k = 0; k < 3; ++k) {
        if (rule[k] < 1 || rule[k] > 30000) die("data/rule.bin");
    }
    int* starts = (int*)load("data/starts.bin", 3 * (size_t)rays * sizeof(int));
    int* ends = (int*)load("data/ends.bin", 3 * (size_t)rays * sizeof(int));
    for (int k = 0; k < 3 * rays; ++k) {
        if (starts[k] < 0 || starts[k] >= side[k % 3]) die("data/starts.bin: outside the grid");
        if (ends[k] < 0 || ends[k] >= side[k % 3]) die("data/ends.bin: outside the grid");
    }
    uint8_t* returned = (uint8_t*)load("data/returned.bin", rays);
    int16_t* belief = (int16_t*)load("data/belief.bin", cells * sizeof(int16_t));
    int* hits = (int*)zeroed(cells * sizeof(int));
    int* misses = (int*)zeroed(cells * sizeof(int));
    int* seen = (int*)zeroed(2 * sizeof(int));
    walkRays<<<(rays + 127) / 128, 128>>>(starts, ends, returned, hits, misses, rays, side[0], side[1]);
    ok(cudaGetLastError());
    update<<<(cells + 255) / 256, 256>>>(hits, misses, belief, cells, rule[0], rule[1], rule[2], seen);
    ok(cudaGetLastError());
    ok(cudaDeviceSynchronize());
    save("data/new_belief.bin", belief, cells * sizeof(int16_t));
    save("data/seen.bin", seen, 2 * sizeof(int));
    return 0;
}
