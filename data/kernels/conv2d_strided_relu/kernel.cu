#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
    int batch, channels, height, width;  // input
    int filters, outHeight, outWidth;    // output
};

constexpr int kFilter = 3;
constexpr int kStride = 2;
constexpr int kPad = 1;
constexpr int kBlock = 16;
constexpr int kTile = (kBlock - 1) * kStride + kFilter;
constexpr int kLimits[5] = {16, 64, 512, 512, 64};  // of batch, channels, height, width, filters

__global__ void convRelu(const float* __restrict__ image, const float* __restrict__ filterWeights,
                         const float* __restrict__ bias, float* __restrict__ features, Shape s) {
    extern __shared__ float shared[];
    const int taps = s.channels * kFilter * kFilter;
    float* weights = shared;
    float* tile = shared + taps;

    const int n = blockIdx.z / s.filters;
    const int o = blockIdx.z % s.filters;
    const int thread = threadIdx.y * kBlock + threadIdx.x;
    const int threads = kBlock * kBlock;
    for (int t = thread; t < taps; t += threads) {
        weights[t] = filterWeights[o * taps + t];
    }

    const int outX = blockIdx.x * kBlock + threadIdx.x;
    const int outY = blockIdx.y * kBlock + threadIdx.y;
    const int inX0 = blockIdx.x * kBlock * kStride - kPad;
    const int inY0 = blockIdx.y * kBlock * kStride - kPad;

    float sum = bias[o];
    for (int c = 0; c < s.channels; ++c) {
        const float* plane = image + (size_t)(n * s.channels + c) * s.height * s.width;
        for (int t = thread; t < kTile * kTile; t += threads) {
            int y = inY0 + t / kTile;
            int x = inX0 + t % kTile;
            bool inside = y >= 0 && y < s.height && x >= 0 && x < s.width;
            tile[t] = inside ? plane[y * s.width + x] : 0.0f;
        }
        __syncthreads();  // also covers the weights in the first round
        const float* w = weights + c * kFilter * kFilter;
        for (int i = 0; i < kFilter; ++i) {
            for (int j = 0; j < kFilter; ++j) {
                sum += w[i * kFilter + j] * tile[(threadIdx.y * kStride + i) * kTile + threadIdx.x * kStride + j];
            }
        }
        __syncthreads();
    }
    if (outX < s.outWidth && outY < s.outHeight) {
        features[((size_t)blockIdx.z * s.outHeight + outY) * s.outWidth + outX] = fmaxf(sum, 0.0f);
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    const size_t bytes = count * sizeof(T);
    std::vector<T> host(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) throw std::runtime_error(path + ": cannot be opened");
    if ((size_t)in.tellg() != bytes) throw std::runtime_error(path + ": wrong size");
    in.seekg(0);
    if (!in.read((char*)host.data(), bytes)) throw std::runtime_error(path + ": cannot be read");
    return host;
}

// Reads a whole file of floats and returns a device copy of it.
static float* loadToDevice(const std::string& path, size_t count) {
    const std::vector<float> host = readFile<float>(path, count);
    float* device = nullptr;
    check(cudaMalloc(&device, count * sizeof(float)));
    check(cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

static void run() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 5);
    for (int k = 0; k < 5; ++k) {
        if (sizes[k] < 1 || sizes[k] > kLimits[k]) throw std::runtime_error("data/sizes.bin: a size is out of range");
    }
    Shape s{sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], 0, 0};
    s.outHeight = (s.height + 2 * kPad - kFilter) / kStride + 1;
    s.outWidth = (s.width + 2 * kPad - kFilter) / kStride + 1;
    const int taps = s.channels * kFilter * kFilter;

    float* image = loadToDevice("data/image.bin", (size_t)s.batch * s.channels * s.height * s.width);
    float* weights = loadToDevice("data/weights.bin", (size_t)s.filters * taps);
    float* bias = loadToDevice("data/bias.bin", s.filters);
    std::vector<float> result((size_t)s.batch * s.filters * s.outHeight * s.outWidth);
    float* features = nullptr;
    check(cudaMalloc(&features, result.size() * sizeof(float)));

    dim3 block(kBlock, kBlock);
    dim3 grid((s.outWidth + kBlock - 1) / kBlock, (s.outHeight + kBlock - 1) / kBlock, s.batch * s.filters);
    size_t sharedBytes = (taps + kTile * kTile) * sizeof(float);
    convRelu<<<grid, block, sharedBytes>>>(image, weights, bias, features, s);
    check(cudaGetLastError());
    check(cudaMemcpy(result.data(), features, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (float* pointer : {image, weights, bias, features}) check(cudaFree(pointer));

    std::ofstream out("data/features.bin", std::ios::binary);
    out.write((const char*)result.data(), result.size() * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error("data/features.bin: cannot be written");
}

int main() {
    try {
        run();
        return 0;
    } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
