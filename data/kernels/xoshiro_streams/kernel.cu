#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#define CUDA_CHECK(call)                                                                          \
    do {                                                                                          \
        cudaError_t error = (call);                                                               \
        if (error != cudaSuccess) {                                                               \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));   \
            std::exit(EXIT_FAILURE);                                                              \
        }                                                                                         \
    } while (0)

constexpr int kThreads = 128;
constexpr int kMaxStreams = 65536;
constexpr int kMaxSteps = 2048;

__device__ __forceinline__ uint64_t splitmix64(uint64_t& x) {
    x += 0x9E3779B97F4A7C15ULL;
    uint64_t z = x;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

__device__ __forceinline__ uint32_t rotateLeft(uint32_t v, int bits) { return __funnelshift_l(v, v, bits); }

struct Xoshiro {
    uint4 s;

    __device__ explicit Xoshiro(uint64_t seed) {
        const uint64_t a = splitmix64(seed);
        const uint64_t b = splitmix64(seed);
        s = make_uint4(static_cast<uint32_t>(a), static_cast<uint32_t>(a >> 32), static_cast<uint32_t>(b),
                       static_cast<uint32_t>(b >> 32));
    }

    __device__ uint32_t next() {
        const uint32_t result = rotateLeft(s.y * 5u, 7) * 9u;
        const uint32_t t = s.y << 9;
        s.z ^= s.x;
        s.w ^= s.y;
        s.y ^= s.z;
        s.x ^= s.w;
        s.z ^= t;
        s.w = rotateLeft(s.w, 11);
        return result;
    }
};

__global__ void generate(const uint64_t* __restrict__ seeds, uint32_t* __restrict__ draws,
                         uint4* __restrict__ states, int streams, int steps) {
    const int stream = blockIdx.x * kThreads + threadIdx.x;
    if (stream >= streams) return;
    Xoshiro generator(seeds[stream]);
    size_t target = stream;
    for (int k = 0; k < steps; ++k) {
        draws[target] = generator.next();
        target += streams;
    }
    states[stream] = generator.s;
}

template <typename T>
static std::vector<T> load(const char* path, size_t count) {
    std::vector<T> values(count);
    const std::streamsize bytes = count * sizeof(T);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes)) {
        std::fprintf(stderr, "%s: not exactly %zu values\n", path, count);
        std::exit(EXIT_FAILURE);
    }
    return values;
}

// Moves results from the device to a file.
template <typename T>
static void store(const char* path, const T* device, size_t count) {
    std::vector<T> host(count);
    CUDA_CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(host.data()), count * sizeof(T));
    out.close();
    if (!out) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(EXIT_FAILURE);
    }
}

int main() {
    const auto sizes = load<int32_t>("data/sizes.bin", 2);
    const int streams = sizes[0], steps = sizes[1];
    if (streams < 1 || streams > kMaxStreams || steps < 1 || steps > kMaxSteps) {
        std::fprintf(stderr, "data/sizes.bin: %d streams of %d steps are not supported\n", streams, steps);
        return EXIT_FAILURE;
    }
    const auto seeds = load<uint64_t>("data/seeds.bin", streams);
    const size_t total = static_cast<size_t>(steps) * streams;

    uint64_t* dSeeds = nullptr;
    uint32_t* dDraws = nullptr;
    uint4* dStates = nullptr;
    CUDA_CHECK(cudaMalloc(&dSeeds, streams * sizeof(uint64_t)));
    CUDA_CHECK(cudaMalloc(&dDraws, total * sizeof(uint32_t)));
    CUDA_CHECK(cudaMalloc(&dStates, streams * sizeof(uint4)));
    CUDA_CHECK(cudaMemcpy(dSeeds, seeds.data(), streams * sizeof(uint64_t), cudaMemcpyHostToDevice));

    generate<<<(streams + kThreads - 1) / kThreads, kThreads>>>(dSeeds, dDraws, dStates, streams, steps);
    CUDA_CHECK(cudaGetLastError());
    store("data/draws.bin", dDraws, total);
    store("data/states.bin", dStates, streams);

    CUDA_CHECK(cudaFree(dSeeds));
    CUDA_CHECK(cudaFree(dDraws));
    CUDA_CHECK(cudaFree(dStates));
    return EXIT_SUCCESS;
}
