#include <cuda_runtime.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

__global__ void diffuse(const uint8_t* gray, uint8_t* binary, int* errors, int* residue, int images, int height,
                        int width) {
    const int image = blockIdx.x * blockDim.x + threadIdx.x;
    if (image >= images) return;
    const size_t first = static_cast<size_t>(image) * height * width;
    int sum = 0;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const size_t at = first + static_cast<size_t>(y) * width + x;
            const int value = gray[at] + errors[at];
            binary[at] = value >= 128 ? 255 : 0;
            const int error = value - binary[at];
            sum += abs(error);
            if (x + 1 < width) errors[at + 1] += (7 * error) >> 4;
            if (y + 1 == height) continue;
            if (x > 0) errors[at + width - 1] += (3 * error) >> 4;
            errors[at + width] += (5 * error) >> 4;
            if (x + 1 < width) errors[at + width + 1] += error >> 4;
        }
    }
    residue[image] = sum;
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

int main() {
    try {
        const std::vector<int> sizes = load<int>("data/sizes.bin", 3);
        const int images = sizes[0], height = sizes[1], width = sizes[2];
        require(images >= 1 && images <= 4096, "data/sizes.bin: images");
        require(height >= 1 && height <= 1024 && width >= 1 && width <= 4096, "data/sizes.bin: height or width");
        const size_t pixels = static_cast<size_t>(images) * height * width;
        const Buffer<uint8_t> gray(load<uint8_t>("data/gray.bin", pixels)), binary(pixels);
        const Buffer<int> errors(pixels), residue(images);
        ok(cudaMemset(errors.get(), 0, errors.bytes()));
        diffuse<<<(images + 31) / 32, 32>>>(gray.get(), binary.get(), errors.get(), residue.get(), images, height,
                                            width);
        ok(cudaGetLastError());
        binary.save("data/binary.bin");
        residue.save("data/residue.bin");
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
