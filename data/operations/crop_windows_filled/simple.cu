#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("cannot read " + path);
    }
    return values;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int HEIGHT = 60;
constexpr int WIDTH = 70;
constexpr int CHANNELS = 3;
constexpr int WINDOWS = 12;
constexpr int CROP_H = 24;
constexpr int CROP_W = 32;

__global__ void crop(const float* picture, const int* corners, const float* fill, float* crops) {
    int x = threadIdx.x;
    int y = threadIdx.y;
    int n = blockIdx.x;
    int sy = corners[2 * n] + y;
    int sx = corners[2 * n + 1] + x;
    bool inside = sy >= 0 && sy < HEIGHT && sx >= 0 && sx < WIDTH;
    for (int c = 0; c < CHANNELS; c++) {
        float v = inside ? picture[(sy * WIDTH + sx) * CHANNELS + c] : fill[c];
        crops[((n * CROP_H + y) * CROP_W + x) * CHANNELS + c] = v;
    }
}

int main() {
    constexpr size_t pictureSize = size_t(HEIGHT) * WIDTH * CHANNELS;
    constexpr size_t cornersSize = size_t(WINDOWS) * 2;
    constexpr size_t cropsSize = size_t(WINDOWS) * 24 * 32 * CHANNELS;
    auto picture = load<float>("data/picture.bin", pictureSize);
    auto corners = load<int>("data/corners.bin", cornersSize);
    auto fill = load<float>("data/fill.bin", CHANNELS);
    std::vector<float> crops(cropsSize);

    float* dev_picture;
    int* dev_corners;
    float* dev_fill;
    float* dev_crops;
    cudaMalloc(&dev_picture, pictureSize * sizeof(float));
    cudaMalloc(&dev_corners, cornersSize * sizeof(int));
    cudaMalloc(&dev_fill, CHANNELS * sizeof(float));
    cudaMalloc(&dev_crops, cropsSize * sizeof(float));

    cudaMemcpy(dev_picture, picture.data(), pictureSize * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_corners, corners.data(), cornersSize * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_fill, fill.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);

    crop<<<WINDOWS, dim3(CROP_W, CROP_H)>>>(dev_picture, dev_corners, dev_fill, dev_crops);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(crops.data(), dev_crops, cropsSize * sizeof(float), cudaMemcpyDeviceToHost);
    store("data/crops.bin", crops);

    cudaFree(dev_picture);
    cudaFree(dev_corners);
    cudaFree(dev_fill);
    cudaFree(dev_crops);
    return 0;
}
