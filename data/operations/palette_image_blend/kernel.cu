#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kFrames = 3;
constexpr int kHeight = 40;
constexpr int kWidth = 51;
constexpr int kArea = kHeight * kWidth;
constexpr int kBlock = 256;

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
void read_binary(const std::string& path, std::vector<T>& v) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(T)))
        throw std::runtime_error("cannot read " + path);
}

// The palette of the frame goes to shared memory, with the opacity of code 0 set to zero.
__global__ void render_frame(const unsigned char* __restrict__ codes, const float4* __restrict__ palette,
                             const float* __restrict__ background, float* __restrict__ rgb) {
    __shared__ float4 table[256];
    const int frame = blockIdx.y;
    float4 entry = palette[frame * 256 + threadIdx.x];
    if (threadIdx.x == 0) entry.w = 0.0f;
    table[threadIdx.x] = entry;
    __syncthreads();
    float* out = rgb + (size_t)frame * 3 * kArea;
    for (int p = blockIdx.x * kBlock + threadIdx.x; p < kArea; p += gridDim.x * kBlock) {
        const float4 c = table[codes[frame * kArea + p]];
        const float r = background[p], g = background[kArea + p], b = background[2 * kArea + p];
        out[p] = r + c.w * (c.x - r);
        out[kArea + p] = g + c.w * (c.y - g);
        out[2 * kArea + p] = b + c.w * (c.z - b);
    }
}

int main() {
    const size_t codes_len = (size_t)kFrames * kHeight * kWidth;
    const size_t palette_len = (size_t)kFrames * 256 * 4;
    const size_t background_len = (size_t)3 * kHeight * kWidth;
    const size_t rgb_len = (size_t)kFrames * 3 * kHeight * kWidth;
    std::vector<unsigned char> host_codes(codes_len);
    std::vector<float> host_palette(palette_len);
    std::vector<float> host_background(background_len);
    std::vector<float> host_rgb(rgb_len);
    read_binary("data/codes.bin", host_codes);
    read_binary("data/palette.bin", host_palette);
    read_binary("data/background.bin", host_background);

    CudaArray<unsigned char> d_codes(codes_len);
    CudaArray<float> d_palette(palette_len);
    CudaArray<float> d_background(background_len);
    CudaArray<float> d_rgb(rgb_len);
    cudaMemcpy(d_codes.data, host_codes.data(), codes_len * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemcpy(d_palette.data, host_palette.data(), palette_len * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_background.data, host_background.data(), background_len * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid((kArea + (kBlock * 4) - 1) / (kBlock * 4), kFrames);
    render_frame<<<grid, kBlock>>>(d_codes.data, (const float4*)d_palette.data, d_background.data, d_rgb.data);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));

    cudaMemcpy(host_rgb.data(), d_rgb.data, rgb_len * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/rgb.bin", std::ios::binary).write(reinterpret_cast<const char*>(host_rgb.data()),
        rgb_len * sizeof(float));
    return 0;
}
