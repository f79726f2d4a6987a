#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using Key = unsigned long long;
constexpr Key kNone = ~0ull;
constexpr int kThreads = 256;

__global__ void offerEdges(const int2* __restrict__ edges, const int* __restrict__ weights,
                           const int* __restrict__ label, Key* best, int count, int* found) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    if (e >= count) return;
    const int a = label[edges[e].x], b = label[edges[e].y];
    if (a == b) return;
    const Key key = static_cast<Key>(weights[e]) << 32 | static_cast<unsigned>(e);
    atomicMin(&best[a], key);
    atomicMin(&best[b], key);
    *found = 1;
}

__global__ void chooseParents(const int2* __restrict__ edges, const int* __restrict__ label,
                              const Key* __restrict__ best, int* __restrict__ parent, uint8_t* chosen, int vertices) {
    const int c = blockIdx.x * kThreads + threadIdx.x;
    if (c >= vertices) return;
    parent[c] = c;
    if (best[c] == kNone) return;
    const unsigned e = static_cast<unsigned>(best[c]);
    chosen[e] = 1;
    const int a = label[edges[e].x], b = label[edges[e].y];
    const int other = a == c ? b : a;
    if (best[other] != best[c] || other < c) parent[c] = other;
}

__global__ void shortenLabels(const int* __restrict__ parent, int* label, int vertices) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v >= vertices) return;
    int root = label[v];
    while (parent[root] != root) root = parent[root];
    label[v] = root;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
class Array {
public:
    explicit Array(size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(T))); }
    explicit Array(const std::vector<T>& host) : Array(host.size()) {
        check(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    Array(const Array&) = delete;
    ~Array() { cudaFree(data_); }
    T* get() const { return data_; }
    void fill(int byte) { check(cudaMemset(data_, byte, count_ * sizeof(T))); }
    std::vector<T> host() const {
        std::vector<T> values(count_);
        check(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }

private:
    T* data_ = nullptr;
    size_t count_;
};

static std::vector<int> readInts(const std::string& path, size_t count) {
    std::vector<int> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(int));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
    return values;
}

template <typename T>
static void writeFile(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

static void run() {
    const auto sizes = readInts("data/sizes.bin", 2);
    const int vertices = sizes[0], count = sizes[1];
    if (vertices < 1 || vertices > 1000000 || count < 1 || count > 2000000) throw std::runtime_error("bad sizes");
    const auto ends = readInts("data/edges.bin", 2 * static_cast<size_t>(count));
    const auto weights = readInts("data/weights.bin", count);
    for (int v : ends) {
        if (v < 0 || v >= vertices) throw std::runtime_error("data/edges.bin: no such vertex");
    }
    for (int w : weights) {
        if (w < 0 || w > 1000000000) throw std::runtime_error("data/weights.bin: out of range");
    }
    std::vector<int> own(vertices);
    std::iota(own.begin(), own.end(), 0);

    Array<int> dEnds(ends), dWeights(weights), label(own), parent(vertices), found(1);
    Array<Key> best(vertices);
    Array<uint8_t> chosen(count);
    chosen.fill(0);
    const int2* edges = reinterpret_cast<const int2*>(dEnds.get());
    const int perVertex = (vertices + kThreads - 1) / kThreads, perEdge = (count + kThreads - 1) / kThreads;
    while (true) {
        best.fill(0xff);
        found.fill(0);
        offerEdges<<<perEdge, kThreads>>>(edges, dWeights.get(), label.get(), best.get(), count, found.get());
        check(cudaGetLastError());
        if (found.host()[0] == 0) break;
        chooseParents<<<perVertex, kThreads>>>(edges, label.get(), best.get(), parent.get(), chosen.get(), vertices);
        check(cudaGetLastError());
        shortenLabels<<<perVertex, kThreads>>>(parent.get(), label.get(), vertices);
        check(cudaGetLastError());
    }
    const auto marks = chosen.host();
    std::vector<int64_t> total(1, 0);
    for (int e = 0; e < count; ++e) total[0] += marks[e] ? weights[e] : 0;
    writeFile("data/chosen.bin", marks);
    writeFile("data/total.bin", total);
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
