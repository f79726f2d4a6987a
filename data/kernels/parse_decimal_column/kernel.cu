#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

enum Status : uint8_t { GOOD = 0, MALFORMED = 1, OVERFLOWED = 2 };

__device__ __forceinline__ bool isBlank(uint8_t c) { return c == ' ' || c == '\t'; }

// Parses [at, end). The magnitude is unsigned, so that the most negative number needs no special case.
__device__ Status parse(const uint8_t* at, const uint8_t* end, int64_t* value) {
    *value = 0;
    while (at < end && isBlank(*at)) ++at;
    bool negative = false;
    if (at < end && (*at == '+' || *at == '-')) negative = *at++ == '-';
    const uint64_t limit = negative ? 1ull << 63 : (1ull << 63) - 1;
    uint64_t magnitude = 0;
    bool overflow = false;
    int digits = 0;
    for (; at < end && *at >= '0' && *at <= '9'; ++at, ++digits) {
        const uint64_t digit = *at - '0';
        if (overflow || magnitude > (limit - digit) / 10) {
            overflow = true;
            magnitude = limit;
        } else {
            magnitude = 10 * magnitude + digit;
        }
    }
    while (at < end && isBlank(*at)) ++at;
    if (digits == 0 || at != end) return MALFORMED;
    *value = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
    return overflow ? OVERFLOWED : GOOD;
}

__global__ void parseFields(const int* __restrict__ offsets, const uint8_t* __restrict__ text,
                            int64_t* __restrict__ values, uint8_t* __restrict__ status, int fields) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < fields) status[i] = parse(text + offsets[i], text + offsets[i + 1], &values[i]);
}

template <typename T>
class DeviceArray {
public:
    explicit DeviceArray(size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(T))); }
    explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
        check(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    DeviceArray(const DeviceArray&) = delete;
    ~DeviceArray() { cudaFree(data_); }
    T* get() const { return data_; }
    void write(const std::string& path) const {
        std::vector<T> host(count_);
        check(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(host.data()), count_ * sizeof(T));
        if (!out.flush()) throw std::runtime_error("cannot write " + path);
    }
    static void check(cudaError_t status) {
        if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
    }

private:
    size_t count_;
    T* data_ = nullptr;
};

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary);
    std::vector<T> values(count);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error("wrong length: " + path);
    return values;
}

int main() {
    try {
        const auto sizes = readFile<int>("data/sizes.bin", 2);
        const int fields = sizes[0], bytes = sizes[1];
        if (fields < 1 || fields > 500000 || bytes < 1 || bytes > 12000000) throw std::runtime_error("bad sizes");
        const auto bounds = readFile<int>("data/offsets.bin", fields + 1);
        if (bounds[0] != 0 || bounds[fields] != bytes) throw std::runtime_error("offsets do not span the text");
        const DeviceArray<int> offsets(bounds);
        const DeviceArray<uint8_t> text(readFile<uint8_t>("data/text.bin", bytes));
        DeviceArray<int64_t> values(fields);
        DeviceArray<uint8_t> status(fields);
        parseFields<<<(fields + 127) / 128, 128>>>(offsets.get(), text.get(), values.get(), status.get(), fields);
        DeviceArray<int>::check(cudaGetLastError());
        values.write("data/values.bin");
        status.write("data/status.bin");
        return 0;
    } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
