#include <cuda_runtime.h>

#include <climits>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kUnreachable = INT_MAX;

__global__ void relax(const int2* __restrict__ edges, const int* __restrict__ weights, int* distance, int count,
                      int* changed) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    if (e >= count) return;
    const int2 edge = edges[e];
    const int here = *static_cast<volatile int*>(&distance[edge.x]);
    if (here == kUnreachable) return;
    const int length = here + weights[e];
    if (length < distance[edge.y] && atomicMin(&distance[edge.y], length) > length) *changed = 1;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static void require(bool good, const std::string& what) {
    if (!good) throw std::runtime_error(what);
}

static std::vector<int> readInts(const std::string& path, size_t count) {
    std::vector<int> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(int));
    require(in && in.peek() == EOF, path + ": wrong length");
    return values;
}

// The device arrays of one search.
struct Search {
    int2* edges = nullptr;
    int *weights = nullptr, *distance = nullptr, *changed = nullptr;
    int* hostChanged = nullptr;

    Search(int vertices, int count) {
        check(cudaMalloc(&edges, count * sizeof(int2)));
        check(cudaMalloc(&weights, count * sizeof(int)));
        check(cudaMalloc(&distance, vertices * sizeof(int)));
        check(cudaMalloc(&changed, sizeof(int)));
        check(cudaMallocHost(&hostChanged, sizeof(int)));
    }
    Search(const Search&) = delete;
    ~Search() {
        cudaFree(edges);
        cudaFree(weights);
        cudaFree(distance);
        cudaFree(changed);
        cudaFreeHost(hostChanged);
    }
};

static void run() {
    const auto sizes = readInts("data/sizes.bin", 2);
    const int vertices = sizes[0], count = sizes[1];
    require(vertices >= 1 && vertices <= 1000000 && count >= 1 && count <= 4000000, "data/sizes.bin: out of range");
    const auto edges = readInts("data/edges.bin", 2 * size_t(count));
    const auto weights = readInts("data/weights.bin", count);
    const int source = readInts("data/source.bin", 1)[0];
    for (int v : edges) require(v >= 0 && v < vertices, "data/edges.bin: no such vertex");
    for (int w : weights) require(w >= -1000 && w <= 1000, "data/weights.bin: out of range");
    require(source >= 0 && source < vertices, "data/source.bin: no such vertex");

    Search search(vertices, count);
    std::vector<int> distance(vertices, kUnreachable);
    distance[source] = 0;
    check(cudaMemcpy(search.edges, edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice));
    check(cudaMemcpy(search.weights, weights.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    check(cudaMemcpy(search.distance, distance.data(), vertices * sizeof(int), cudaMemcpyHostToDevice));

    *search.hostChanged = 1;
    for (int round = 0; *search.hostChanged != 0; ++round) {
        require(round <= vertices, "the graph has a negative cycle");
        check(cudaMemsetAsync(search.changed, 0, sizeof(int)));
        relax<<<(count + kThreads - 1) / kThreads, kThreads>>>(search.edges, search.weights, search.distance, count,
                                                               search.changed);
        check(cudaGetLastError());
        check(cudaMemcpy(search.hostChanged, search.changed, sizeof(int), cudaMemcpyDeviceToHost));
    }
    check(cudaMemcpy(distance.data(), search.distance, vertices * sizeof(int), cudaMemcpyDeviceToHost));
    std::ofstream out("data/distance.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(distance.data()), vertices * sizeof(int));
    out.close();
    require(bool(out), "data/distance.bin: cannot be written");
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
