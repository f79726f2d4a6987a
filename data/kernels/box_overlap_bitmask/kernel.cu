#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxBoxes = 16384, kTile = 64;

struct Box {
    int low[3], high[3];
};

__device__ long long volumeOf(const Box& box) {
    long long volume = 1;
    for (int a = 0; a < 3; ++a) volume *= box.high[a] - box.low[a];
    return volume;
}

__device__ long long common(const Box& a, const Box& b) {
    long long volume = 1;
    for (int k = 0; k < 3; ++k) volume *= max(min(a.high[k], b.high[k]) - max(a.low[k], b.low[k]), 0);
    return volume;
}

__global__ void conflicts(const Box* __restrict__ boxes, unsigned long long* __restrict__ mask, int n, int percent,
                          int words) {
    __shared__ Box columns[kTile];
    __shared__ long long volumes[kTile];
    const int i = blockIdx.y * kTile + threadIdx.x, firstColumn = blockIdx.x * kTile;
    unsigned long long word = 0;
    if (blockIdx.x >= blockIdx.y) {  // the same for the whole block
        if (firstColumn + static_cast<int>(threadIdx.x) < n) {
            columns[threadIdx.x] = boxes[firstColumn + threadIdx.x];
            volumes[threadIdx.x] = volumeOf(columns[threadIdx.x]);
        }
        __syncthreads();
        if (i < n) {
            const Box own = boxes[i];
            const long long ownVolume = volumeOf(own);
            const int end = min(kTile, n - firstColumn);
            for (int c = max(0, i + 1 - firstColumn); c < end; ++c) {
                const long long shared = common(own, columns[c]);
                if (100 * shared > percent * (ownVolume + volumes[c] - shared)) word |= 1ull << c;
            }
        }
    }
    if (i < n) mask[static_cast<size_t>(i) * words + blockIdx.x] = word;
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

static void readFile(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(static_cast<char*>(data), bytes) || in.peek() != EOF) {
        throw std::runtime_error(path + ": expected " + std::to_string(bytes) + " bytes");
    }
}

int main() {
    try {
        int sizes[2];
        readFile("data/sizes.bin", sizes, sizeof sizes);
        const int n = sizes[0], percent = sizes[1], words = (n + 63) / 64;
        if (n < 1 || n > kMaxBoxes || percent < 1 || percent > 99) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        std::vector<Box> boxes(n);
        readFile("data/boxes.bin", boxes.data(), n * sizeof(Box));
        for (const Box& box : boxes) {
            for (int a = 0; a < 3; ++a) {
                if (box.low[a] < -2000 || box.high[a] > 2000 || box.low[a] >= box.high[a]) {
                    throw std::runtime_error("data/boxes.bin: not a box within the limits");
                }
            }
        }
        std::vector<unsigned long long> mask(static_cast<size_t>(n) * words);
        const size_t maskBytes = mask.size() * sizeof(unsigned long long);
        Box* dBoxes = nullptr;
        unsigned long long* dMask = nullptr;
        check(cudaMalloc(&dBoxes, n * sizeof(Box)), "allocate");
        check(cudaMalloc(&dMask, maskBytes), "allocate");
        check(cudaMemcpy(dBoxes, boxes.data(), n * sizeof(Box), cudaMemcpyHostToDevice), "upload");
        conflicts<<<dim3(words, words), kTile>>>(dBoxes, dMask, n, percent, words);
        check(cudaGetLastError(), "launch");
        check(cudaMemcpy(mask.data(), dMask, maskBytes, cudaMemcpyDeviceToHost), "download");
        check(cudaFree(dBoxes), "free");
        check(cudaFree(dMask), "free");
        std::ofstream out("data/mask.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(mask.data()), maskBytes);
        out.close();
        if (!out) throw std::runtime_error("data/mask.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
