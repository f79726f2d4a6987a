#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cstdint>
#include <cuda_runtime.h>

struct GpuArray {
    uint32_t* p = nullptr;
    explicit GpuArray(size_t n) {
        if (cudaMalloc(&p, n * sizeof(uint32_t)) != cudaSuccess) exit(1);
    }
    ~GpuArray() { cudaFree(p); }
    GpuArray(const GpuArray&) = delete;
    void operator=(const GpuArray&) = delete;
    uint32_t* get() { return p; }
};

void readVector(const char* path, std::vector<uint32_t>& v) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(v.data(), sizeof(uint32_t), v.size(), f) != v.size()) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static const int N = 15001;

__global__ void gray_kernel(const uint32_t* number, const uint32_t* gray, uint32_t* encoded,
                            uint32_t* decoded, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        encoded[i] = number[i] ^ (number[i] >> 1);
        uint32_t value = 0;
        for (uint32_t g = gray[i]; g != 0; g >>= 1) value ^= g;
        decoded[i] = value;
    }
}

int main() {
    const size_t size_bytes = N * sizeof(uint32_t);
    std::vector<uint32_t> h_number(N);
    std::vector<uint32_t> h_gray(N);
    std::vector<uint32_t> h_encoded(N);
    std::vector<uint32_t> h_decoded(N);
    readVector("data/number.bin", h_number);
    readVector("data/gray.bin", h_gray);

    GpuArray d_number(N);
    GpuArray d_gray(N);
    GpuArray d_encoded(N);
    GpuArray d_decoded(N);
    cudaMemcpy(d_number.get(), h_number.data(), size_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_gray.get(), h_gray.data(), size_bytes, cudaMemcpyHostToDevice);

    const int block = 256;
    gray_kernel<<<(N + block - 1) / block, block>>>(d_number.get(), d_gray.get(), d_encoded.get(), d_decoded.get(), N);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "kernel failed\n");
        return 1;
    }

    cudaMemcpy(h_encoded.data(), d_encoded.get(), size_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_decoded.data(), d_decoded.get(), size_bytes, cudaMemcpyDeviceToHost);
    FILE* out_encoded = fopen("data/encoded.bin", "wb");
    if (!out_encoded || fwrite(h_encoded.data(), sizeof(uint32_t), h_encoded.size(),
            out_encoded) != h_encoded.size()) return 1;
    fclose(out_encoded);
    FILE* out_decoded = fopen("data/decoded.bin", "wb");
    if (!out_decoded || fwrite(h_decoded.data(), sizeof(uint32_t), h_decoded.size(),
            out_decoded) != h_decoded.size()) return 1;
    fclose(out_decoded);
    return 0;
}
