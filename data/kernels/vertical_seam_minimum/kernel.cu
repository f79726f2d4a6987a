#include <cuda_runtime.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;

__global__ void findSeams(const int* energy, int height, int width, signed char* steps, int* cost, int* seam) {
    extern __shared__ int rows[];
    __shared__ unsigned long long best;  // cost * 4096 + column
    const size_t first = static_cast<size_t>(blockIdx.x) * height * width;
    for (int x = threadIdx.x; x < width; x += kThreads) rows[x] = energy[first + x];
    if (threadIdx.x == 0) best = ~0ULL;
    __syncthreads();
    for (int y = 1; y < height; ++y) {
        const int* above = rows + (y - 1) % 2 * width;
        int* here = rows + y % 2 * width;
        for (int x = threadIdx.x; x < width; x += kThreads) {
            int step = x > 0 ? -1 : 0, least = above[x + step];
            for (int next = step + 1; next <= 1 && x + next < width; ++next) {
                if (above[x + next] < least) {
                    least = above[x + next];
                    step = next;
                }
            }
            const size_t at = first + static_cast<size_t>(y) * width + x;
            here[x] = energy[at] + least;
            steps[at] = static_cast<signed char>(step);
        }
        __syncthreads();
    }
    const int* last = rows + (height - 1) % 2 * width;
    for (int x = threadIdx.x; x < width; x += kThreads)
        atomicMin(&best, static_cast<unsigned long long>(last[x]) * 4096 + x);
    __syncthreads();
    if (threadIdx.x > 0) return;
    cost[blockIdx.x] = static_cast<int>(best / 4096);
    int x = static_cast<int>(best % 4096);
    for (int y = height - 1; y >= 0; --y) {
        seam[static_cast<size_t>(blockIdx.x) * height + y] = x;
        if (y > 0) x += steps[first + static_cast<size_t>(y) * width + x];
    }
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
    const int images = sizes[0], height = sizes[1], width = sizes[2];
    require(images >= 1 && images <= 65535, "data/sizes.bin: images is out of range");
    require(height >= 1 && height <= 8192 && width >= 1 && width <= 4096, "data/sizes.bin: height or width");
    const size_t pixels = static_cast<size_t>(images) * height * width;
    const Buffer<int> energy(load<int>("data/energy.bin", pixels));
    const Buffer<int> cost(images), seam(static_cast<size_t>(images) * height);
    const Buffer<signed char> steps(pixels);
    findSeams<<<images, kThreads, 2 * width * sizeof(int)>>>(energy.get(), height, width, steps.get(), cost.get(),
                                                             seam.get());
    ok(cudaGetLastError());
    cost.save("data/cost.bin");
    seam.save("data/seam.bin");
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
