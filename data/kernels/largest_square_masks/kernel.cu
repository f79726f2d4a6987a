#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

constexpr int kMaxWidth = 512, kMaxHeight = 1024, kPlaceBits = 20;
constexpr unsigned kLastPlace = (1u << kPlaceBits) - 1;
static_assert(kMaxWidth * kMaxHeight <= 1 << kPlaceBits, "a cell's number fits the key");

__global__ void __launch_bounds__(kMaxWidth)
    squares(const uint8_t* __restrict__ mask, int height, int width, uint16_t* __restrict__ side, int* largest) {
    __shared__ uint16_t diagonal[2][kMaxWidth];
    __shared__ unsigned best;
    const size_t base = static_cast<size_t>(blockIdx.x) * height * width;
    const int x = threadIdx.x;
    diagonal[0][x] = diagonal[1][x] = 0;
    if (x == 0) best = 0;
    __syncthreads();

    unsigned mine = 0;
    int above = 0, corner = 0;  // (y - 1, x) and (y - 1, x - 1)
    for (int s = 0; s < height + width - 1; ++s) {
        const int y = s - x;
        if (x < width && y >= 0 && y < height) {
            const size_t cell = base + static_cast<size_t>(y) * width + x;
            const int left = x > 0 ? diagonal[(s + 1) & 1][x - 1] : 0;
            const int value = mask[cell] != 0 ? 1 + min(above, min(left, corner)) : 0;
            side[cell] = static_cast<uint16_t>(value);
            diagonal[s & 1][x] = static_cast<uint16_t>(value);
            if (value > 0) {
                const unsigned key = (static_cast<unsigned>(value) << kPlaceBits) + kLastPlace - (y * width + x);
                mine = max(mine, key);
            }
            above = value;
            corner = left;
        }
        __syncthreads();
    }
    if (mine > 0) atomicMax(&best, mine);
    __syncthreads();
    if (x == 0) {
        const int place = static_cast<int>(kLastPlace - (best & kLastPlace));
        int* out = largest + 3 * static_cast<size_t>(blockIdx.x);
        out[0] = static_cast<int>(best >> kPlaceBits);
        out[1] = best > 0 ? place / width : -1;
        out[2] = best > 0 ? place % width : -1;
    }
}

struct Failure {
    std::string text;
};

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw Failure{cudaGetErrorString(status)};
}

static void require(bool good, const std::string& text) {
    if (!good) throw Failure{text};
}

using File = std::unique_ptr<FILE, int (*)(FILE*)>;

template <typename T>
static std::vector<T> readArray(const std::string& path, size_t count) {
    File file(std::fopen(path.c_str(), "rb"), std::fclose);
    std::vector<T> values(count);
    require(file && std::fread(values.data(), sizeof(T), count, file.get()) == count && std::fgetc(file.get()) == EOF,
            path + " is missing or has another length");
    return values;
}

template <typename T>
static void writeArray(const std::string& path, const T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    File file(std::fopen(path.c_str(), "wb"), std::fclose);
    require(file && std::fwrite(values.data(), sizeof(T), count, file.get()) == count &&
                std::fflush(file.get()) == 0,
            path + " cannot be written");
}

static void run() {
    const auto sizes = readArray<int>("data/sizes.bin", 3);
    const int masks = sizes[0], height = sizes[1], width = sizes[2];
    require(masks >= 1 && masks <= 65535, "masks is out of range");
    require(height >= 1 && height <= kMaxHeight, "height is out of range");
    require(width >= 1 && width <= kMaxWidth, "width is out of range");
    const size_t cells = static_cast<size_t>(masks) * height * width;
    const auto mask = readArray<uint8_t>("data/mask.bin", cells);
    uint8_t* dMask;
    uint16_t* side;
    int* largest;
    check(cudaMalloc(&dMask, cells));
    check(cudaMalloc(&side, cells * sizeof(uint16_t)));
    check(cudaMalloc(&largest, 3 * static_cast<size_t>(masks) * sizeof(int)));
    check(cudaMemcpy(dMask, mask.data(), cells, cudaMemcpyHostToDevice));
    squares<<<masks, (width + 31) / 32 * 32>>>(dMask, height, width, side, largest);
    check(cudaGetLastError());
    writeArray("data/side.bin", side, cells);
    writeArray("data/largest.bin", largest, 3 * static_cast<size_t>(masks));
    check(cudaFree(dMask));
    check(cudaFree(side));
    check(cudaFree(largest));
}

int main() {
    try {
        run();
    } catch (const Failure& failure) {
        std::fprintf(stderr, "%s\n", failure.text.c_str());
        return 1;
    }
    return 0;
}
