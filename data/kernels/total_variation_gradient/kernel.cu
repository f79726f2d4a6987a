#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kTileX = 32, kTileY = 8;
constexpr float kSmooth = 0.0625f;

__global__ void totalVariation(const float* __restrict__ image, double* loss, float* __restrict__ grad, int height,
                               int width) {
    __shared__ float tile[kTileY + 2][kTileX + 2];  // tile[r][c] is pixel (y0 + r - 1, x0 + c - 1)
    __shared__ double partial[kTileY];
    const size_t first = static_cast<size_t>(blockIdx.z) * height * width;
    const int x0 = blockIdx.x * kTileX, y0 = blockIdx.y * kTileY;
    for (int at = threadIdx.y * kTileX + threadIdx.x; at < (kTileX + 2) * (kTileY + 2); at += kTileX * kTileY) {
        const int r = at / (kTileX + 2), c = at % (kTileX + 2);
        const int y = min(max(y0 + r - 1, 0), height - 1), x = min(max(x0 + c - 1, 0), width - 1);
        tile[r][c] = image[first + static_cast<size_t>(y) * width + x];
    }
    __syncthreads();

    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    const int r = threadIdx.y + 1, c = threadIdx.x + 1;
    double term = 0.0;
    if (x < width && y < height) {
        const float dx = tile[r][c + 1] - tile[r][c], dy = tile[r + 1][c] - tile[r][c];
        const float m = sqrtf(dx * dx + dy * dy + kSmooth);
        float g = -(dx + dy) / m;
        if (x > 0) {
            const float leftDx = tile[r][c] - tile[r][c - 1], leftDy = tile[r + 1][c - 1] - tile[r][c - 1];
            g += leftDx / sqrtf(leftDx * leftDx + leftDy * leftDy + kSmooth);
        }
        if (y > 0) {
            const float upDx = tile[r - 1][c + 1] - tile[r - 1][c], upDy = tile[r][c] - tile[r - 1][c];
            g += upDy / sqrtf(upDx * upDx + upDy * upDy + kSmooth);
        }
        grad[first + static_cast<size_t>(y) * width + x] = g;
        term = m;
    }
    for (int step = 16; step > 0; step /= 2) term += __shfl_down_sync(0xffffffffu, term, step);
    if (threadIdx.x == 0) partial[threadIdx.y] = term;
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        for (int k = 1; k < kTileY; ++k) term += partial[k];
        atomicAdd(&loss[blockIdx.z], term);
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
    return values;
}

static void writeFile(const std::string& path, const std::vector<float>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = readFile<int32_t>("data/sizes.bin", 3);
        const int images = sizes[0], height = sizes[1], width = sizes[2];
        if (images < 1 || images > 1024 || height < 1 || height > 4096 || width < 1 || width > 4096) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        auto pixels = readFile<float>("data/image.bin", static_cast<size_t>(images) * height * width);
        const size_t bytes = pixels.size() * sizeof(float);
        float *image = nullptr, *grad = nullptr;
        double* dLoss = nullptr;
        check(cudaMalloc(&image, bytes));
        check(cudaMalloc(&grad, bytes));
        check(cudaMalloc(&dLoss, images * sizeof(double)));
        check(cudaMemcpy(image, pixels.data(), bytes, cudaMemcpyHostToDevice));
        check(cudaMemset(dLoss, 0, images * sizeof(double)));
        const dim3 grid((width + kTileX - 1) / kTileX, (height + kTileY - 1) / kTileY, images);
        totalVariation<<<grid, dim3(kTileX, kTileY)>>>(image, dLoss, grad, height, width);
        check(cudaGetLastError());
        std::vector<double> total(images);
        check(cudaMemcpy(total.data(), dLoss, images * sizeof(double), cudaMemcpyDeviceToHost));
        check(cudaMemcpy(pixels.data(), grad, bytes, cudaMemcpyDeviceToHost));
        check(cudaFree(image));
        check(cudaFree(grad));
        check(cudaFree(dLoss));
        writeFile("data/loss.bin", std::vector<float>(total.begin(), total.end()));
        writeFile("data/grad.bin", pixels);
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
