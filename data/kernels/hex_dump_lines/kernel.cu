#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kThreads = 256, kLines = 64, kColumns = 79;
constexpr int kBytes = 16 * kLines;                // of the input, per block
constexpr int kWords = kLines * kColumns / 4;      // of the text, per block
static_assert(kLines * kColumns % 4 == 0 && kBytes == 4 * kThreads, "blocks start at whole words");

__device__ unsigned digit(unsigned nibble) { return nibble + (nibble < 10 ? '0' : 'a' - 10); }

// The character of a column; `line` holds the line's 16 bytes, of which `there` exist.
__device__ unsigned character(const uint8_t* line, int there, unsigned offset, int column) {
    if (column < 8) return digit(offset >> (28 - 4 * column) & 15);
    if (column == 60 || column == 77) return '|';
    if (column == 78) return '\n';
    if (column > 60) {
        const int k = column - 61;
        if (k >= there) return ' ';
        return line[k] >= 0x20 && line[k] <= 0x7E ? line[k] : '.';
    }
    if (column < 10 || column == 34) return ' ';
    const int place = column - (column < 34 ? 10 : 11), k = place / 3;
    if (place % 3 == 2 || k >= there) return ' ';
    return digit(place % 3 == 0 ? line[k] >> 4 : line[k] & 15);
}

__global__ void dumpLines(const uint8_t* __restrict__ data, int bytes, uint8_t* __restrict__ text, size_t characters) {
    __shared__ uint8_t staged[kBytes];
    const int first = blockIdx.x * kBytes;
    for (int i = 0; i < 4; ++i) {
        const int k = 4 * threadIdx.x + i;
        staged[k] = first + k < bytes ? data[first + k] : 0;
    }
    __syncthreads();
    const size_t start = static_cast<size_t>(blockIdx.x) * kLines * kColumns;
    for (int word = threadIdx.x; word < kWords; word += kThreads) {
        if (start + 4 * word >= characters) break;
        unsigned packed = 0;
        for (int i = 0; i < 4; ++i) {
            const int place = 4 * word + i, line = place / kColumns;
            const int offset = first + 16 * line;
            packed |= character(staged + 16 * line, min(16, bytes - offset), offset, place % kColumns) << 8 * i;
        }
        uint8_t* out = text + start + 4 * word;
        if (start + 4 * word + 4 <= characters) {
            *reinterpret_cast<unsigned*>(out) = packed;
        } else {
            for (size_t i = 0; start + 4 * word + i < characters; ++i) out[i] = packed >> 8 * i;
        }
    }
}

void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

class DeviceBytes {
public:
    explicit DeviceBytes(size_t count) { check(cudaMalloc(&data_, count), "cudaMalloc"); }
    ~DeviceBytes() { cudaFree(data_); }
    DeviceBytes(const DeviceBytes&) = delete;
    DeviceBytes& operator=(const DeviceBytes&) = delete;
    uint8_t* get() const { return data_; }

private:
    uint8_t* data_ = nullptr;
};

void readExactly(const char* path, void* data, size_t bytes) {
    std::ifstream file(path, std::ios::binary);
    file.read(static_cast<char*>(data), static_cast<std::streamsize>(bytes));
    if (!file || file.peek() != std::ifstream::traits_type::eof())
        throw std::runtime_error(std::string(path) + ": expected " + std::to_string(bytes) + " bytes");
}

void run() {
    int bytes = 0;
    readExactly("data/sizes.bin", &bytes, sizeof bytes);
    if (bytes < 1 || bytes > 16777216) throw std::runtime_error("data/sizes.bin: " + std::to_string(bytes));
    std::vector<uint8_t> data(bytes);
    readExactly("data/data.bin", data.data(), data.size());
    std::vector<uint8_t> text((data.size() + 15) / 16 * kColumns);

    DeviceBytes in(data.size()), out(text.size());
    check(cudaMemcpy(in.get(), data.data(), data.size(), cudaMemcpyHostToDevice), "copy to the device");
    dumpLines<<<(bytes + kBytes - 1) / kBytes, kThreads>>>(in.get(), bytes, out.get(), text.size());
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(text.data(), out.get(), text.size(), cudaMemcpyDeviceToHost), "copy to the host");

    std::ofstream file("data/dump.bin", std::ios::binary);
    file.write(reinterpret_cast<const char*>(text.data()), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file) throw std::runtime_error("data/dump.bin: cannot be written");
}

}  // namespace

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
