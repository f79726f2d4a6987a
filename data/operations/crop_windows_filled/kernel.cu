#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int HEIGHT = 60;
constexpr int WIDTH = 70;
constexpr int CHANNELS = 3;
constexpr int WINDOWS = 12;
constexpr int CROP_H = 24;
constexpr int CROP_W = 32;
constexpr int LINE = CROP_W * CHANNELS;
constexpr int TOTAL = WINDOWS * CROP_H * LINE;

template <typename T>
struct CudaArray {
    T* data = nullptr;
    explicit CudaArray(size_t n) {
        if (cudaMalloc(&data, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~CudaArray() { cudaFree(data); }
    CudaArray(const CudaArray&) = delete;
    CudaArray& operator=(const CudaArray&) = delete;
};

template <typename T>
void readFile(const std::string& path, std::vector<T>& v) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(T)))
        throw std::runtime_error("cannot read " + path);
}

// A flat grid-stride loop over the output; a line of a window is contiguous in the picture.
__global__ void crop_flat(const float* __restrict__ picture, const int2* __restrict__ corners,
                          const float* __restrict__ fill, float* __restrict__ crops) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < TOTAL; i += gridDim.x * blockDim.x) {
        const int k = i % LINE;
        const int line = i / LINE;
        const int2 corner = corners[line / CROP_H];
        const int y = corner.x + line % CROP_H;
        const int x = corner.y + k / CHANNELS;
        float v = fill[k % CHANNELS];
        if ((unsigned)y < (unsigned)HEIGHT && (unsigned)x < (unsigned)WIDTH) {
            v = picture[(y * WIDTH + x) * CHANNELS + k % CHANNELS];
        }
        crops[i] = v;
    }
}

int main() {
    const size_t num_picture = (size_t)HEIGHT * WIDTH * CHANNELS;
    const size_t num_corners = (size_t)WINDOWS * 2;
    const size_t num_crops = (size_t)WINDOWS * 24 * 32 * CHANNELS;
    std::vector<float> picture(num_picture);
    std::vector<int> corners(num_corners);
    std::vector<float> fill(CHANNELS);
    std::vector<float> crops(num_crops);
    readFile("data/picture.bin", picture);
    readFile("data/corners.bin", corners);
    readFile("data/fill.bin", fill);

    CudaArray<float> d_picture(num_picture), d_fill(CHANNELS), d_crops(num_crops);
    CudaArray<int> d_corners(num_corners);
    cudaMemcpy(d_picture.data, picture.data(), num_picture * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_corners.data, corners.data(), num_corners * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_fill.data, fill.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);

    int blocks = (TOTAL + 256 - 1) / 256 < 4096 ? (TOTAL + 256 - 1) / 256 : 4096;
    crop_flat<<<blocks, 256>>>(d_picture.data, (const int2*)d_corners.data, d_fill.data, d_crops.data);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) throw std::runtime_error(cudaGetErrorString(err));

    cudaMemcpy(crops.data(), d_crops.data, num_crops * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/crops.bin", std::ios::binary).write(reinterpret_cast<const char*>(crops.data()),
        num_crops * sizeof(float));
    return 0;
}
