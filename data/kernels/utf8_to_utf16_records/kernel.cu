#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void require(bool good, const char* what) {
    if (good) return;
    fprintf(stderr, "error: %s\n", what);
    exit(1);
}
static void require(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    require(file && fread(values.data(), sizeof(T), count, file) == count && fgetc(file) == EOF, path);
    fclose(file);
    return values;
}

template <typename T>
static void writeFile(const char* path, T* device, size_t count) {
    std::vector<T> values(count);
    require(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    require(cudaFree(device));
    FILE* file = fopen(path, "wb");
    require(file && fwrite(values.data(), sizeof(T), count, file) == count && fclose(file) == 0, path);
}

// UTF-16 units of the sequence that starts at this byte; none if it is a continuation byte.
__device__ __forceinline__ int unitsOf(uint8_t byte) { return (byte & 0xC0) == 0x80 ? 0 : byte >= 0xF0 ? 2 : 1; }

__device__ void writeUnits(const uint8_t* p, uint16_t* out) {
    const uint32_t first = p[0];
    uint32_t code = first;
    if (first >= 0xF0) {
        code = (first & 7) << 18 | (p[1] & 63u) << 12 | (p[2] & 63u) << 6 | (p[3] & 63u);
        code -= 0x10000;
        out[1] = static_cast<uint16_t>(0xDC00 | (code & 0x3FF));
        code = 0xD800 | code >> 10;
    } else if (first >= 0xE0) {
        code = (first & 15) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
    } else if (first >= 0xC0) {
        code = (first & 31) << 6 | (p[1] & 63u);
    }
    out[0] = static_cast<uint16_t>(code);
}

constexpr int THREADS = 128, WARPS = THREADS / 32;

__global__ void transcode(const uint8_t* __restrict__ text, const int* __restrict__ lengths,
                          uint16_t* __restrict__ units, int* __restrict__ counts, int width) {
    __shared__ int sums[WARPS];
    const uint8_t* in = text + static_cast<size_t>(blockIdx.x) * width;
    uint16_t* out = units + static_cast<size_t>(blockIdx.x) * width;
    const int length = lengths[blockIdx.x], lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int written = 0;
    for (int first = 0; first < length; first += THREADS) {
        const int i = first + threadIdx.x;
        const int mine = i < length ? unitsOf(in[i]) : 0;
        int sum = mine;
        for (int step = 1; step < 32; step *= 2) {
            const int other = __shfl_up_sync(0xffffffffu, sum, step);
            if (lane >= step) sum += other;
        }
        if (lane == 31) sums[warp] = sum;
        __syncthreads();
        int before = written + sum - mine;
        for (int w = 0; w < WARPS; ++w) {
            if (w < warp) before += sums[w];
            written += sums[w];
        }
        if (mine > 0) writeUnits(in + i, out + before);
        __syncthreads();  // sums is filled anew
    }
    for (int i = written + threadIdx.x; i < width; i += THREADS) out[i] = 0;
    if (threadIdx.x == 0) counts[blockIdx.x] = written;
}

int main() {
    const auto sizes = readFile<int>("data/sizes.bin", 2);
    const int records = sizes[0], width = sizes[1];
    require(records >= 1 && records <= 65535 && width >= 4 && width <= 4096, "data/sizes.bin is out of range");
    const size_t cells = static_cast<size_t>(records) * width;
    const auto text = readFile<uint8_t>("data/text.bin", cells);
    const auto lengths = readFile<int>("data/lengths.bin", records);
    for (int length : lengths) require(length >= 0 && length <= width, "data/lengths.bin is out of range");
    uint8_t* dText;
    int *dLengths, *counts;
    uint16_t* units;
    require(cudaMalloc(&dText, cells));
    require(cudaMalloc(&dLengths, records * sizeof(int)));
    require(cudaMalloc(&counts, records * sizeof(int)));
    require(cudaMalloc(&units, cells * sizeof(uint16_t)));
    require(cudaMemcpy(dText, text.data(), cells, cudaMemcpyHostToDevice));
    require(cudaMemcpy(dLengths, lengths.data(), records * sizeof(int), cudaMemcpyHostToDevice));
    transcode<<<records, THREADS>>>(dText, dLengths, units, counts, width);
    require(cudaGetLastError());
    writeFile("data/units.bin", units, cells);
    writeFile("data/counts.bin", counts, records);
    require(cudaFree(dText));
    require(cudaFree(dLengths));
    return 0;
}
