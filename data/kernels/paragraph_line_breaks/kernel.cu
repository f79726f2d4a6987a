#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <vector>

constexpr unsigned kWarp = 0xffffffffu;
constexpr int kWarps = 2, kMaxWords = 1024, kMaxWidth = 255;
using Key = unsigned long long;  // cost, then 1023 - last word: the cheapest line, and the longest of these

__global__ void breakLines(const uint8_t* __restrict__ length, int paragraphs, int words, int width,
                           long long* __restrict__ cost, uint8_t* __restrict__ first) {
    __shared__ int starts[kWarps][kMaxWords + 1];
    __shared__ long long best[kWarps][kMaxWords + 1];
    __shared__ short next[kWarps][kMaxWords];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int paragraph = blockIdx.x * kWarps + warp;
    if (paragraph >= paragraphs) return;  // whole warps; no barrier of the block follows
    const uint8_t* row = length + static_cast<size_t>(paragraph) * words;

    int carry = 0;
    for (int chunk = 0; chunk < words; chunk += 32) {
        int sum = chunk + lane < words ? row[chunk + lane] + 1 : 0;
        for (int step = 1; step < 32; step *= 2) {
            const int other = __shfl_up_sync(kWarp, sum, step);
            if (lane >= step) sum += other;
        }
        if (chunk + lane < words) starts[warp][chunk + lane + 1] = carry + sum;
        carry += __shfl_sync(kWarp, sum, 31);
    }
    if (lane == 0) {
        starts[warp][0] = 0;
        best[warp][words] = 0;
    }
    __syncwarp();

    for (int i = words - 1; i >= 0; --i) {
        Key smallest = ~0ull;
        for (int j = i + lane; j < words; j += 32) {
            const long long room = width - (starts[warp][j + 1] - starts[warp][i] - 1);
            if (room < 0) break;
            const long long line = j == words - 1 ? 0 : room * room * room;
            const Key key = static_cast<Key>(line + best[warp][j + 1]) << 10 | static_cast<Key>(kMaxWords - 1 - j);
            smallest = min(smallest, key);
        }
        for (int step = 16; step > 0; step /= 2) smallest = min(smallest, __shfl_xor_sync(kWarp, smallest, step));
        if (lane == 0) {
            best[warp][i] = static_cast<long long>(smallest >> 10);
            next[warp][i] = static_cast<short>(kMaxWords - static_cast<int>(smallest & (kMaxWords - 1)));
        }
        __syncwarp();
    }

    uint8_t* marks = first + static_cast<size_t>(paragraph) * words;
    for (int i = lane; i < words; i += 32) marks[i] = 0;
    __syncwarp();
    if (lane == 0) {
        for (int i = 0; i < words; i = next[warp][i]) marks[i] = 1;
        cost[paragraph] = best[warp][0];
    }
}

#define CUDA_CHECK(expression) checkCuda((expression), #expression, __LINE__)

void checkCuda(cudaError_t status, const char* expression, int line) {
    if (status == cudaSuccess) return;
    std::ostringstream text;
    text << "line " << line << ": " << expression << ": " << cudaGetErrorString(status);
    throw std::runtime_error(text.str());
}

template <typename T>
class Buffer {  // device memory
public:
    explicit Buffer(size_t count) : count_(count) { CUDA_CHECK(cudaMalloc(&data_, count * sizeof(T))); }
    ~Buffer() { cudaFree(data_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    T* get() { return data_; }
    void set(const std::vector<T>& host) {
        CUDA_CHECK(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    void write(const char* path) const {
        std::vector<T> host(count_);
        CUDA_CHECK(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(host.data()), count_ * sizeof(T));
        if (!out.flush()) throw std::runtime_error(std::string(path) + ": cannot be written");
    }

private:
    T* data_ = nullptr;
    size_t count_;
};

template <typename T>
std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T)) || in.peek() != EOF)
        throw std::runtime_error(std::string(path) + ": wrong length");
    return values;
}

int main() try {
    const auto sizes = readFile<int>("data/sizes.bin", 3);
    const int paragraphs = sizes[0], words = sizes[1], width = sizes[2];
    if (paragraphs < 1 || paragraphs > 65535 || words < 1 || words > kMaxWords || width < 1 || width > kMaxWidth)
        throw std::runtime_error("data/sizes.bin: out of range");
    const auto length = readFile<uint8_t>("data/length.bin", static_cast<size_t>(paragraphs) * words);
    for (int characters : length) {
        if (characters < 1 || characters > width) throw std::runtime_error("data/length.bin: a word does not fit");
    }
    Buffer<uint8_t> dLength(length.size()), first(length.size());
    Buffer<long long> cost(paragraphs);
    dLength.set(length);
    const int blocks = (paragraphs + kWarps - 1) / kWarps;
    breakLines<<<blocks, 32 * kWarps>>>(dLength.get(), paragraphs, words, width, cost.get(), first.get());
    CUDA_CHECK(cudaGetLastError());
    cost.write("data/cost.bin");
    first.write("data/first.bin");
    return 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
}
