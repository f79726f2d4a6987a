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

__global__ void transcode(const uint8_t* text, const int* lengths, uint16_t* units, int* counts, int records,
                          int width) {
    const int record = blockIdx.x * blockDim.x + threadIdx.x;
    if (record >= records) return;
    const uint8_t* in = text + static_cast<size_t>(record) * width;
    uint16_t* out = units + static_cast<size_t>(record) * width;
    int written = 0;
    for (int i = 0; i < lengths[record]; ++i) {
        if (unitsOf(in[i]) > 0) writeUnits(in + i, out + written);
        written += unitsOf(in[i]);
    }
    counts[record] = written;
    while (written < width) out[written++] = 0;
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
    transcode<<<(records + 63) / 64, 64>>>(dText, dLengths, units, counts, records, width);
    require(cudaGetLastError());
    writeFile("data/units.bin", units, cells);
    writeFile("data/counts.bin", counts, records);
    require(cudaFree(dText));
    require(cudaFree(dLengths));
    return 0;
}
