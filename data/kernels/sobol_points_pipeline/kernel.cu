#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxDims = 256, kMaxPoints = 16777216, kBits = 32;
constexpr int kThreads = 256, kBlocks = 256;
constexpr int kLeapBits = 16;
constexpr int kLeap = 1 << kLeapBits;
static_assert(kThreads * kBlocks == kLeap, "a leap is one point per thread");

__constant__ uint32_t directions[kMaxDims * kBits];

__global__ void sobolDimension(int dim, uint32_t shift, int points, float* __restrict__ out) {
    const uint32_t* direction = directions + dim * kBits;
    const int first = blockIdx.x * kThreads + threadIdx.x;
    const int gray = first ^ (first >> 1);
    uint32_t bits = shift;
    for (int b = 0; b < kLeapBits; ++b) {
        if (gray >> b & 1) bits ^= direction[b];
    }
    for (int i = first; i < points; i += kLeap) {
        out[i] = (bits >> 8) * 0x1p-24f;
        // From i to i + kLeap the Gray code changes in these two bits only.
        bits ^= direction[kLeapBits - 1] ^ direction[kLeapBits + __ffs(~(i >> kLeapBits)) - 1];
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

class Slot {
public:
    explicit Slot(int points) : points_(points) {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        check(cudaEventCreateWithFlags(&copied_, cudaEventDisableTiming));
        check(cudaMalloc(&device_, bytes()));
        check(cudaMallocHost(&host_, bytes()));
    }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot() {
        cudaStreamSynchronize(stream_);
        cudaFreeHost(host_);
        cudaFree(device_);
        cudaEventDestroy(copied_);
        cudaStreamDestroy(stream_);
    }

    void launch(int dim, uint32_t shift) {
        sobolDimension<<<kBlocks, kThreads, 0, stream_>>>(dim, shift, points_, device_);
        check(cudaGetLastError());
        check(cudaMemcpyAsync(host_, device_, bytes(), cudaMemcpyDeviceToHost, stream_));
        check(cudaEventRecord(copied_, stream_));
    }

    void append(std::ofstream& out) {
        check(cudaEventSynchronize(copied_));
        out.write(reinterpret_cast<const char*>(host_), bytes());
        if (!out) throw std::runtime_error("data/sequence.bin: cannot be written");
    }

private:
    size_t bytes() const { return points_ * sizeof(float); }

    int points_;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t copied_ = nullptr;
    float *device_ = nullptr, *host_ = nullptr;
};

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) throw std::runtime_error(path + ": cannot be opened");
    if (static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error(path + ": cannot be read");
    }
    return values;
}

static void run() {
    const std::vector<int32_t> sizes = readFile<int32_t>("data/sizes.bin", 2);
    const int dims = sizes[0], points = sizes[1];
    if (dims < 1 || dims > kMaxDims || points < 1 || points > kMaxPoints) {
        throw std::runtime_error("data/sizes.bin: dims or points out of range");
    }
    const std::vector<uint32_t> table = readFile<uint32_t>("data/directions.bin", static_cast<size_t>(dims) * kBits);
    const std::vector<uint32_t> shift = readFile<uint32_t>("data/shift.bin", dims);
    check(cudaMemcpyToSymbol(directions, table.data(), table.size() * sizeof(uint32_t)));
    // The copy may return before the table is in place, and the slots' streams do not wait for the default stream.
    check(cudaDeviceSynchronize());

    std::ofstream out("data/sequence.bin", std::ios::binary);
    Slot even(points), odd(points);
    Slot* slots[2] = {&even, &odd};
    slots[0]->launch(0, shift[0]);
    for (int d = 0; d < dims; ++d) {
        if (d + 1 < dims) slots[(d + 1) % 2]->launch(d + 1, shift[d + 1]);
        slots[d % 2]->append(out);
    }
    out.close();
    if (!out) throw std::runtime_error("data/sequence.bin: cannot be written");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
