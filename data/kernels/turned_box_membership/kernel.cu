#include <cuda_runtime.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxPoints = 1 << 20, kMaxBoxes = 1024;
constexpr int kThreads = 256;

struct Box {
    int cx, cy, cz, ax, ay, along, across, up;
};
__constant__ Box constBoxes[kMaxBoxes];

__global__ void classify(const int* __restrict__ points, int* __restrict__ owner, int* inside, int n, int boxes) {
    __shared__ int counts[kMaxBoxes];
    for (int b = threadIdx.x; b < boxes; b += kThreads) counts[b] = 0;
    __syncthreads();

    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int at = 3 * min(i, n - 1);
    const int x = points[at], y = points[at + 1], z = points[at + 2];
    int first = -1;
    for (int b = 0; b < boxes; ++b) {
        const Box box = constBoxes[b];
        const int dx = x - box.cx, dy = y - box.cy;
        const bool hit = i < n && abs(dx * box.ax + dy * box.ay) <= box.along &&
                         abs(dy * box.ax - dx * box.ay) <= box.across && abs(z - box.cz) <= box.up;
        const unsigned hits = __ballot_sync(0xFFFFFFFFu, hit);
        if (hit && first < 0) first = b;
        if (hits != 0 && threadIdx.x % 32 == 0) atomicAdd(&counts[b], __popc(hits));
    }
    if (i < n) owner[i] = first;
    __syncthreads();
    for (int b = threadIdx.x; b < boxes; b += kThreads) {
        if (counts[b] > 0) atomicAdd(&inside[b], counts[b]);
    }
}

static void cuda(cudaError_t status, const char* action) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(action) + ": " + cudaGetErrorString(status));
}

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    FILE* file = fopen(path, "rb");
    if (!file) throw std::runtime_error(std::string(path) + ": cannot be opened");
    const bool whole = fread(values.data(), sizeof(int), count, file) == count && fgetc(file) == EOF;
    fclose(file);
    if (!whole) throw std::runtime_error(std::string(path) + ": does not hold the expected number of values");
    return values;
}

static void writeInts(const char* path, const int* device, size_t count) {
    std::vector<int> values(count);
    cuda(cudaMemcpy(values.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost), "download");
    FILE* file = fopen(path, "wb");
    if (!file) throw std::runtime_error(std::string(path) + ": cannot be created");
    const bool whole = fwrite(values.data(), sizeof(int), count, file) == count;
    if (fclose(file) != 0 || !whole) throw std::runtime_error(std::string(path) + ": cannot be written");
}

static void run() {
    const std::vector<int> sizes = readInts("data/sizes.bin", 2);
    const int n = sizes[0], boxes = sizes[1];
    if (n < 1 || n > kMaxPoints || boxes < 1 || boxes > kMaxBoxes) {
        throw std::runtime_error("data/sizes.bin: n or the number of boxes is out of range");
    }
    const std::vector<int> points = readInts("data/points.bin", 3 * static_cast<size_t>(n));
    const std::vector<int> box = readInts("data/box.bin", 8 * static_cast<size_t>(boxes));
    int *dPoints = nullptr, *dOwner = nullptr, *dInside = nullptr;
    cuda(cudaMalloc(&dPoints, points.size() * sizeof(int)), "allocate the points");
    cuda(cudaMalloc(&dOwner, n * sizeof(int)), "allocate the owners");
    cuda(cudaMalloc(&dInside, boxes * sizeof(int)), "allocate the counts");
    cuda(cudaMemcpy(dPoints, points.data(), points.size() * sizeof(int), cudaMemcpyHostToDevice), "upload");
    cuda(cudaMemcpyToSymbol(constBoxes, box.data(), box.size() * sizeof(int)), "upload the boxes");
    cuda(cudaMemset(dInside, 0, boxes * sizeof(int)), "clear the counts");
    classify<<<(n + kThreads - 1) / kThreads, kThreads>>>(dPoints, dOwner, dInside, n, boxes);
    cuda(cudaGetLastError(), "launch");
    writeInts("data/owner.bin", dOwner, n);
    writeInts("data/inside.bin", dInside, boxes);
    cuda(cudaFree(dPoints), "free");
    cuda(cudaFree(dOwner), "free");
    cuda(cudaFree(dInside), "free");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
    return 0;
}
