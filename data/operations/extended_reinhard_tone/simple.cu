#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct Buffer {
    T* p = nullptr;
    explicit Buffer(size_t count) {
        if (cudaMalloc(&p, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~Buffer() { cudaFree(p); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
};

constexpr int kFrames = 4;
constexpr int kPixels = 2000;

template <typename T>
void input_from(const char* path, std::vector<T>& out) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(out.data()), out.size() * sizeof(T));
    if (!file) throw std::runtime_error(std::string("cannot read ") + path);
}

__device__ float luminance(const float* p) {
    return 0.2126f * p[0] + 0.7152f * p[1] + 0.0722f * p[2];
}

__global__ void find_white(const float* hdr, float* white) {
    __shared__ float best[256];
    const float* frame = hdr + (size_t)blockIdx.x * kPixels * 3;
    float m = 0.0f;
    for (int i = threadIdx.x; i < kPixels; i += 256) m = fmaxf(m, luminance(frame + 3 * i));
    best[threadIdx.x] = m;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) white[blockIdx.x] = best[0];
}

__global__ void tone_map(const float* hdr, const float* white, unsigned char* ldr) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kPixels) return;
    size_t at = ((size_t)blockIdx.y * kPixels + i) * 3;
    float l = luminance(hdr + at);
    float w = white[blockIdx.y];
    float k = (1.0f + l / (w * w)) / (1.0f + l);
    for (int c = 0; c < 3; ++c) {
        float v = fminf(hdr[at + c] * k, 1.0f);
        ldr[at + c] = (unsigned char)floorf(255.0f * sqrtf(v) + 0.5f);
    }
}

int main() {
    constexpr int size = kFrames * kPixels * 3;
    std::vector<float> h_hdr(size);
    std::vector<unsigned char> h_ldr(size);
    std::vector<float> h_white(kFrames);
    input_from("data/hdr.bin", h_hdr);

    Buffer<float> d_hdr(size);
    Buffer<unsigned char> d_ldr(size);
    Buffer<float> d_white(kFrames);
    cudaMemcpy(d_hdr.p, h_hdr.data(), size * sizeof(float), cudaMemcpyHostToDevice);

    find_white<<<kFrames, 256>>>(d_hdr.p, d_white.p);
    dim3 grid((kPixels + 255) / 256, kFrames);
    tone_map<<<grid, 256>>>(d_hdr.p, d_white.p, d_ldr.p);
    if (cudaGetLastError() != cudaSuccess) {
        throw std::runtime_error("launch failed");
    }

    cudaMemcpy(h_ldr.data(), d_ldr.p, size * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_white.data(), d_white.p, kFrames * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream ldr_file("data/ldr.bin", std::ios::binary);
    ldr_file.write(reinterpret_cast<const char*>(h_ldr.data()), size * sizeof(unsigned char));
    std::ofstream white_file("data/white.bin", std::ios::binary);
    white_file.write(reinterpret_cast<const char*>(h_white.data()), kFrames * sizeof(float));
    return 0;
}
