#include <cuda_runtime.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 128;

struct Edge {
    int px, py, dx, dy, bias;
    __device__ Edge(int2 p, int2 q) : px(p.x), py(p.y), dx(q.x - p.x), dy(q.y - p.y) {
        bias = dy < 0 || (dy == 0 && dx > 0);  // top-left edges own the centres on them
    }
    __device__ bool holds(int x, int y) const {
        return static_cast<long long>(dx) * (y - py) - static_cast<long long>(dy) * (x - px) + bias > 0;
    }
};

// The smallest pixel whose centre is at or behind coordinate c, and the largest whose centre is at or before it.
__device__ int firstPixel(int c) { return (c + 7) >> 4; }
__device__ int lastPixel(int c) { return (c - 8) >> 4; }

__global__ void rasterise(const int2* corners, int height, int width, int* ids, int* covered) {
    __shared__ int counts[kThreads / 32];
    const int t = blockIdx.x;
    const int2 a = corners[3 * t];
    int2 b = corners[3 * t + 1], c = corners[3 * t + 2];
    const long long area = static_cast<long long>(b.x - a.x) * (c.y - a.y) -
                           static_cast<long long>(b.y - a.y) * (c.x - a.x);
    if (area < 0) {
        const int2 swap = b;
        b = c;
        c = swap;
    }
    const int left = max(firstPixel(min(a.x, min(b.x, c.x))), 0);
    const int right = min(lastPixel(max(a.x, max(b.x, c.x))), width - 1);
    const int top = max(firstPixel(min(a.y, min(b.y, c.y))), 0);
    const int bottom = min(lastPixel(max(a.y, max(b.y, c.y))), height - 1);
    const int columns = right - left + 1, rows = bottom - top + 1;
    const int pixels = area != 0 && columns > 0 && rows > 0 ? columns * rows : 0;

    const Edge ab(a, b), bc(b, c), ca(c, a);
    int count = 0;
    for (int i = threadIdx.x; i < pixels; i += kThreads) {
        const int x = left + i % columns, y = top + i / columns;
        const int cx = 16 * x + 8, cy = 16 * y + 8;
        if (ab.holds(cx, cy) && bc.holds(cx, cy) && ca.holds(cx, cy)) {
            atomicMax(&ids[y * width + x], t);
            ++count;
        }
    }
    count = __reduce_add_sync(0xffffffffu, count);
    if (threadIdx.x % 32 == 0) counts[threadIdx.x / 32] = count;
    __syncthreads();
    if (threadIdx.x == 0) covered[t] = counts[0] + counts[1] + counts[2] + counts[3];
}

static void require(bool condition, const std::string& message) {
    if (!condition) throw std::runtime_error(message);
}

static void ok(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> host(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(host.data()), static_cast<std::streamsize>(count * sizeof(T)));
    require(file && file.peek() == std::ifstream::traits_type::eof(), path + ": missing or of another length");
    return host;
}

// Device memory that frees itself.
template <typename T>
class Buffer {
public:
    explicit Buffer(size_t count) : count_(count) { ok(cudaMalloc(&data_, count * sizeof(T))); }
    explicit Buffer(const std::vector<T>& host) : Buffer(host.size()) {
        ok(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { cudaFree(data_); }
    T* get() const { return data_; }
    size_t bytes() const { return count_ * sizeof(T); }
    void save(const std::string& path) const {
        std::vector<T> host(count_);
        ok(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        std::ofstream file(path, std::ios::binary);
        file.write(reinterpret_cast<const char*>(host.data()), static_cast<std::streamsize>(bytes()));
        file.close();
        require(!file.fail(), path + ": cannot be written");
    }

private:
    T* data_ = nullptr;
    size_t count_;
};

static void run() {
    const std::vector<int> sizes = load<int>("data/sizes.bin", 3);
    const int height = sizes[0], width = sizes[1], triangles = sizes[2];
    require(height >= 1 && height <= 4096 && width >= 1 && width <= 4096, "data/sizes.bin: image out of range");
    require(triangles >= 1 && triangles <= 65535, "data/sizes.bin: triangles out of range");
    const Buffer<int2> corners(load<int2>("data/corners.bin", 3 * static_cast<size_t>(triangles)));
    const Buffer<int> ids(static_cast<size_t>(height) * width), covered(triangles);
    ok(cudaMemset(ids.get(), 0xFF, ids.bytes()));
    rasterise<<<triangles, kThreads>>>(corners.get(), height, width, ids.get(), covered.get());
    ok(cudaGetLastError());
    ids.save("data/ids.bin");
    covered.save("data/covered.bin");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
