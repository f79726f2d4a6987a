#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxHalf = 4096, kMaxSweeps = 64;
constexpr int kThreads = 256, kMaxBlocks = 512;

__constant__ uint32_t flipBelow[5];  // by (spin * neighbour sum + 4) / 2

// Updates the sites of one colour; all their neighbours have the other colour and do not change meanwhile.
__global__ void updateColour(int8_t* spins, const uint32_t* __restrict__ random, int height, int width, int colour) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (pair >= width / 2 || y >= height) return;
    const int x = 2 * pair + ((y + colour) & 1);

    const int up = (y == 0 ? height - 1 : y - 1) * width, down = (y == height - 1 ? 0 : y + 1) * width;
    const int left = x == 0 ? width - 1 : x - 1, right = x == width - 1 ? 0 : x + 1;
    const int site = y * width + x;
    const int sum = spins[up + x] + spins[down + x] + spins[y * width + left] + spins[y * width + right];
    const int spin = spins[site];
    if (random[site] < flipBelow[(spin * sum + 4) / 2]) spins[site] = static_cast<int8_t>(-spin);
}

__global__ void addSpins(const int8_t* __restrict__ spins, int sites, int* total) {
    int sum = 0;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < sites; i += gridDim.x * kThreads) sum += spins[i];
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
class DeviceArray {
public:
    explicit DeviceArray(size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(T))); }
    explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
        check(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    ~DeviceArray() { cudaFree(data_); }

    T* get() { return data_; }
    std::vector<T> toHost() const {
        std::vector<T> host(count_);
        check(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }

private:
    T* data_ = nullptr;
    size_t count_;
};

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) throw std::runtime_error(path + ": cannot be opened");
    if (static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error(path + ": cannot be read");
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
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 3);
    const int halfHeight = sizes[0], halfWidth = sizes[1], sweeps = sizes[2];
    if (halfHeight < 1 || halfHeight > kMaxHalf || halfWidth < 1 || halfWidth > kMaxHalf || sweeps < 1 ||
        sweeps > kMaxSweeps) {
        throw std::runtime_error("data/sizes.bin: a size is out of range");
    }
    const int height = 2 * halfHeight, width = 2 * halfWidth;
    const int sites = height * width;
    DeviceArray<int8_t> spins(readFile<int8_t>("data/spins.bin", sites));
    DeviceArray<uint32_t> random(readFile<uint32_t>("data/random.bin", static_cast<size_t>(sweeps) * sites));
    const std::vector<uint32_t> thresholds = readFile<uint32_t>("data/thresholds.bin", 5);
    check(cudaMemcpyToSymbol(flipBelow, thresholds.data(), sizeof(flipBelow)));
    DeviceArray<int> magnetization(sweeps);
    check(cudaMemset(magnetization.get(), 0, sweeps * sizeof(int)));

    const dim3 block(32, 8);
    const dim3 grid((halfWidth + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    const int blocks = std::min((sites + kThreads - 1) / kThreads, kMaxBlocks);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        const uint32_t* numbers = random.get() + static_cast<size_t>(sweep) * sites;
        for (int colour = 0; colour < 2; ++colour) {
            updateColour<<<grid, block>>>(spins.get(), numbers, height, width, colour);
            check(cudaGetLastError());
        }
        addSpins<<<blocks, kThreads>>>(spins.get(), sites, magnetization.get() + sweep);
        check(cudaGetLastError());
    }
    writeFile("data/spins_out.bin", spins.toHost());
    writeFile("data/magnetization.bin", magnetization.toHost());
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
