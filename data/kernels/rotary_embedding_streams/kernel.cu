#include <cuda_runtime.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

constexpr int kMaxLength = 16384, kMaxHeads = 64, kMaxPosition = 1000000;
constexpr int kPairs = 32;
constexpr int kThreads = 256;

__global__ void buildTable(const int* __restrict__ positions, float2* __restrict__ table, int entries) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    if (e >= entries) return;
    const double frequency = pow(10000.0, -(e % kPairs) / static_cast<double>(kPairs));
    double sine, cosine;
    sincos(positions[e / kPairs] * frequency, &sine, &cosine);
    table[e] = make_float2(static_cast<float>(cosine), static_cast<float>(sine));
}

__global__ void rotatePairs(float2* x, const float2* __restrict__ table, int heads, int count) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    if (e >= count) return;
    const int t = e / (heads * kPairs);
    const float2 turn = table[t * kPairs + e % kPairs];
    const float2 pair = x[e];
    x[e] = make_float2(pair.x * turn.x - pair.y * turn.y, pair.x * turn.y + pair.y * turn.x);
}

[[noreturn]] static void fail(const std::string& message) {
    std::cerr << message << '\n';
    std::exit(1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) fail(cudaGetErrorString(status));
}

static void readInto(const std::string& path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) fail(path + ": expected " + std::to_string(bytes) + " bytes");
    in.seekg(0);
    if (!in.read(static_cast<char*>(target), bytes)) fail(path + ": cannot be read");
}

static int blocksFor(int count) { return (count + kThreads - 1) / kThreads; }

// Queries or keys: a pinned buffer, its copy on the device, and the stream that works on them.
class Branch {
public:
    Branch(const std::string& path, int length, int heads)
        : heads_(heads), count_(length * heads * kPairs), bytes_(count_ * sizeof(float2)) {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        check(cudaMallocHost(&host_, bytes_));
        check(cudaMalloc(&device_, bytes_));
        readInto(path, host_, bytes_);
        check(cudaMemcpyAsync(device_, host_, bytes_, cudaMemcpyHostToDevice, stream_));
    }
    Branch(const Branch&) = delete;
    Branch& operator=(const Branch&) = delete;
    ~Branch() {
        cudaFree(device_);
        cudaFreeHost(host_);
        cudaStreamDestroy(stream_);
    }

    cudaStream_t stream() const { return stream_; }

    void rotate(const float2* table) {
        rotatePairs<<<blocksFor(count_), kThreads, 0, stream_>>>(device_, table, heads_, count_);
        check(cudaGetLastError());
        check(cudaMemcpyAsync(host_, device_, bytes_, cudaMemcpyDeviceToHost, stream_));
    }

    void finish(const std::string& path) {
        check(cudaStreamSynchronize(stream_));
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(host_), bytes_);
        out.close();
        if (!out) fail(path + ": cannot be written");
    }

private:
    int heads_, count_;
    size_t bytes_;
    cudaStream_t stream_ = nullptr;
    float2 *host_ = nullptr, *device_ = nullptr;
};

int main() {
    int sizes[3];
    readInto("data/sizes.bin", sizes, sizeof(sizes));
    const int length = sizes[0], qHeads = sizes[1], kvHeads = sizes[2];
    if (length < 1 || length > kMaxLength || qHeads < 1 || qHeads > kMaxHeads || kvHeads < 1 || kvHeads > kMaxHeads) {
        fail("data/sizes.bin: out of range");
    }
    std::vector<int> hostPositions(length);
    readInto("data/positions.bin", hostPositions.data(), length * sizeof(int));
    for (const int position : hostPositions) {
        if (position < 0 || position > kMaxPosition) fail("data/positions.bin: a position is out of range");
    }

    Branch q("data/q.bin", length, qHeads), k("data/k.bin", length, kvHeads);
    int* positions = nullptr;
    float2* table = nullptr;
    cudaEvent_t tableReady;
    check(cudaMalloc(&positions, length * sizeof(int)));
    check(cudaMalloc(&table, length * kPairs * sizeof(float2)));
    check(cudaEventCreateWithFlags(&tableReady, cudaEventDisableTiming));
    check(cudaMemcpyAsync(positions, hostPositions.data(), length * sizeof(int), cudaMemcpyHostToDevice, q.stream()));

    buildTable<<<blocksFor(length * kPairs), kThreads, 0, q.stream()>>>(positions, table, length * kPairs);
    check(cudaGetLastError());
    check(cudaEventRecord(tableReady, q.stream()));
    q.rotate(table);
    check(cudaStreamWaitEvent(k.stream(), tableReady, 0));
    k.rotate(table);
    q.finish("data/rotated_q.bin");
    k.finish("data/rotated_k.bin");

    check(cudaEventDestroy(tableReady));
    check(cudaFree(table));
    check(cudaFree(positions));
    return 0;
}
