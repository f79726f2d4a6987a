#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kThreads = 128;
constexpr int kTile = 8;  // threads per particle
constexpr int kMaxParticles = 1048576, kMaxSlots = 64;
constexpr float kCutoff = 2.5f;

struct Pair {
    float energy;
    float force;  // magnitude, positive for repulsion
};

__device__ __forceinline__ Pair lennardJones(float sigma, float r) {
    const float ratio = sigma / r;
    const float s3 = ratio * ratio * ratio;
    const float s6 = s3 * s3;
    return {4.0f * (s6 * s6 - s6), 24.0f * (2.0f * s6 * s6 - s6) / r};
}

__device__ __forceinline__ float tileSum(const cg::thread_block_tile<kTile>& tile, float value) {
    for (int offset = kTile / 2; offset > 0; offset /= 2) value += tile.shfl_down(value, offset);
    return value;
}

__global__ void forces(const float4* __restrict__ particles, const int* __restrict__ neighbors,
                       float* __restrict__ force, float* __restrict__ energy, int n, int slots, float box) {
    const auto tile = cg::tiled_partition<kTile>(cg::this_thread_block());
    const int i = (blockIdx.x * kThreads + threadIdx.x) / kTile;
    if (i >= n) return;  // the same for all threads of the tile

    const float4 own = particles[i];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f, sum = 0.0f;
    for (int slot = tile.thread_rank(); slot < slots; slot += kTile) {
        const int j = neighbors[static_cast<size_t>(i) * slots + slot];
        if (j < 0) continue;
        const float4 other = particles[j];
        float dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
        dx -= box * rintf(dx / box);  // the nearest periodic image
        dy -= box * rintf(dy / box);
        dz -= box * rintf(dz / box);
        const float r = sqrtf(dx * dx + dy * dy + dz * dz);
        if (r >= kCutoff) continue;

        const float sigma = 0.5f * (own.w + other.w);
        const Pair here = lennardJones(sigma, r), edge = lennardJones(sigma, kCutoff);
        const float scale = (here.force - edge.force) / r;
        fx += scale * dx;
        fy += scale * dy;
        fz += scale * dz;
        sum += 0.5f * (here.energy - edge.energy + (r - kCutoff) * edge.force);
    }
    fx = tileSum(tile, fx);
    fy = tileSum(tile, fy);
    fz = tileSum(tile, fz);
    sum = tileSum(tile, sum);
    if (tile.thread_rank() == 0) {
        float* target = force + 3 * static_cast<size_t>(i);
        target[0] = fx;
        target[1] = fy;
        target[2] = fz;
        energy[i] = sum;
    }
}

struct DeviceDeleter {
    void operator()(void* pointer) const { cudaFree(pointer); }
};
template <typename T>
using DevicePtr = std::unique_ptr<T[], DeviceDeleter>;

static void require(bool condition, const std::string& message) {
    if (!condition) throw std::runtime_error(message);
}

static void checkCuda(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
static DevicePtr<T> allocate(size_t count) {
    T* pointer = nullptr;
    checkCuda(cudaMalloc(&pointer, count * sizeof(T)));
    return DevicePtr<T>(pointer);
}

template <typename T>
static std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> host(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(host.data()), count * sizeof(T));
    require(file && file.peek() == std::ifstream::traits_type::eof(), path + ": missing or of another length");
    return host;
}

template <typename T>
static DevicePtr<T> loadToDevice(const std::string& path, size_t count) {
    const std::vector<T> host = load<T>(path, count);
    DevicePtr<T> device = allocate<T>(count);
    checkCuda(cudaMemcpy(device.get(), host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static void store(const std::string& path, const DevicePtr<T>& device, size_t count) {
    std::vector<T> host(count);
    checkCuda(cudaMemcpy(host.data(), device.get(), count * sizeof(T), cudaMemcpyDeviceToHost));
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(host.data()), count * sizeof(T));
    file.close();
    require(!file.fail(), path + ": cannot be written");
}

static void run() {
    const std::vector<int> sizes = load<int>("data/sizes.bin", 2);
    const int n = sizes[0], slots = sizes[1];
    require(n >= 1 && n <= kMaxParticles && slots >= 1 && slots <= kMaxSlots, "data/sizes.bin: out of range");
    const float box = load<float>("data/box.bin", 1)[0];
    require(box >= 2.0f * kCutoff, "data/box.bin: shorter than twice the cutoff");
    const size_t entries = static_cast<size_t>(n) * slots;
    const std::vector<int> list = load<int>("data/neighbors.bin", entries);
    for (size_t e = 0; e < entries; ++e) {
        const bool valid = list[e] >= -1 && list[e] < n && list[e] != static_cast<int>(e / slots);
        require(valid, "data/neighbors.bin: an entry is no other particle");
    }

    const auto particles = loadToDevice<float4>("data/particles.bin", n);
    const auto neighbors = allocate<int>(entries);
    const auto force = allocate<float>(3 * static_cast<size_t>(n)), energy = allocate<float>(n);
    checkCuda(cudaMemcpy(neighbors.get(), list.data(), entries * sizeof(int), cudaMemcpyHostToDevice));

    const int perBlock = kThreads / kTile;
    forces<<<(n + perBlock - 1) / perBlock, kThreads>>>(particles.get(), neighbors.get(), force.get(), energy.get(), n,
                                                        slots, box);
    checkCuda(cudaGetLastError());
    store("data/force.bin", force, 3 * static_cast<size_t>(n));
    store("data/energy.bin", energy, n);
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
