#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

// A host array in page-locked memory and its twin on the device.
struct Pair {
    uint8_t *host = nullptr, *device = nullptr;
    size_t bytes;
    explicit Pair(size_t n) : bytes(n) {
        check(cudaMallocHost(&host, bytes));
        check(cudaMalloc(&device, bytes));
    }
    Pair(const Pair&) = delete;
    ~Pair() {
        cudaFreeHost(host);
        cudaFree(device);
    }
    void read(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        if (!file.read(reinterpret_cast<char*>(host), bytes) || file.get() != EOF)
            throw std::runtime_error(path + ": not " + std::to_string(bytes) + " bytes");
    }
    void write(const std::string& path) const {
        std::ofstream file(path, std::ios::binary);
        if (!file.write(reinterpret_cast<const char*>(host), bytes).flush())
            throw std::runtime_error(path + ": cannot be written");
    }
};

__device__ uchar2 lumaOf(const int3& a, const int3& b) {
    return make_uchar2(((66 * a.x + 129 * a.y + 25 * a.z + 128) >> 8) + 16,
                       ((66 * b.x + 129 * b.y + 25 * b.z + 128) >> 8) + 16);
}

__global__ void convert(const uchar2* rgb, uchar2* luma, uint8_t* cb, uint8_t* cr, int halfHeight, int halfWidth) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= halfWidth || y >= halfHeight) return;
    int3 sum = make_int3(2, 2, 2);  // for rounding
    for (int row = 0; row < 2; ++row) {
        const size_t line = 2 * static_cast<size_t>(y) + row;
        const uchar2* words = rgb + (line * halfWidth + x) * 3;  // R G, B R, G B
        const uchar2 first = words[0], second = words[1], third = words[2];
        const int3 left = make_int3(first.x, first.y, second.x), right = make_int3(second.y, third.x, third.y);
        luma[line * halfWidth + x] = lumaOf(left, right);
        sum.x += left.x + right.x;
        sum.y += left.y + right.y;
        sum.z += left.z + right.z;
    }
    const int r = sum.x >> 2, g = sum.y >> 2, b = sum.z >> 2;
    const size_t at = static_cast<size_t>(y) * halfWidth + x;
    cb[at] = static_cast<uint8_t>(((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128);
    cr[at] = static_cast<uint8_t>(((112 * r - 94 * g - 18 * b + 128) >> 8) + 128);
}

static void run() {
    Pair sizes(2 * sizeof(int));
    sizes.read("data/sizes.bin");
    const int halfHeight = reinterpret_cast<int*>(sizes.host)[0], halfWidth = reinterpret_cast<int*>(sizes.host)[1];
    if (halfHeight < 1 || halfHeight > 4096 || halfWidth < 1 || halfWidth > 4096)
        throw std::runtime_error("data/sizes.bin: out of range");
    const size_t blocks = static_cast<size_t>(halfHeight) * halfWidth;
    Pair rgb(12 * blocks), luma(4 * blocks), cb(blocks), cr(blocks);
    rgb.read("data/rgb.bin");

    cudaStream_t stream;
    check(cudaStreamCreate(&stream));
    check(cudaMemcpyAsync(rgb.device, rgb.host, rgb.bytes, cudaMemcpyHostToDevice, stream));
    const dim3 block(32, 8), grid((halfWidth + 31) / 32, (halfHeight + 7) / 8);
    convert<<<grid, block, 0, stream>>>(reinterpret_cast<uchar2*>(rgb.device), reinterpret_cast<uchar2*>(luma.device),
                                        cb.device, cr.device, halfHeight, halfWidth);
    check(cudaGetLastError());
    for (Pair* plane : {&luma, &cb, &cr})
        check(cudaMemcpyAsync(plane->host, plane->device, plane->bytes, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    check(cudaStreamDestroy(stream));
    luma.write("data/luma.bin");
    cb.write("data/cb.bin");
    cr.write("data/cr.bin");
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
