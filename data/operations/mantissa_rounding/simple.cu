#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <typename T>
std::vector<T> from_file(const char* path, size_t count) {
    std::vector<T> v(count);
    FILE* f = fopen(path, "rb");
    if (f == nullptr || fread(v.data(), sizeof(T), count, f) != count) {
        fprintf(stderr, "bad file %s\n", path);
        exit(1);
    }
    fclose(f);
    return v;
}

template <typename T>
void to_file(const char* path, const std::vector<T>& v) {
    FILE* f = fopen(path, "wb");
    if (f == nullptr || fwrite(v.data(), sizeof(T), v.size(), f) != v.size()) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int ROWS = 40;
constexpr int COLS = 300;
constexpr int NUMEL = ROWS * COLS;

__global__ void round_mantissa(const float* x, float* rounded, float* error, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned int bits = __float_as_uint(x[i]);
        unsigned int lowest_kept = (bits >> 13) & 1u;
        bits += 0xfffu + lowest_kept;
        bits &= 0xffffe000u;
        float r = __uint_as_float(bits);
        rounded[i] = r;
        error[i] = x[i] - r;
    }
}

int main() {
    auto h_x = from_file<float>("data/x.bin", NUMEL);
    std::vector<float> h_rounded(NUMEL);
    std::vector<float> h_error(NUMEL);

    float *d_x, *d_rounded, *d_error;
    cudaMalloc(&d_x, NUMEL * sizeof(float));
    cudaMalloc(&d_rounded, NUMEL * sizeof(float));
    cudaMalloc(&d_error, NUMEL * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), NUMEL * sizeof(float), cudaMemcpyHostToDevice);

    const auto threads = 256;
    round_mantissa<<<(NUMEL + threads - 1) / threads, threads>>>(d_x, d_rounded, d_error, NUMEL);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(err));
        return 1;
    }

    cudaMemcpy(h_rounded.data(), d_rounded, NUMEL * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_error.data(), d_error, NUMEL * sizeof(float), cudaMemcpyDeviceToHost);
    to_file("data/rounded.bin", h_rounded);
    to_file("data/error.bin", h_error);

    cudaFree(d_x);
    cudaFree(d_rounded);
    cudaFree(d_error);
}
