#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 40;
const int WORDS = 10;
const int TOTAL = 5000;
const int WARPS = 4;

// One warp a row: 32 words are counted together, then each word is written by all lanes at once.
__global__ void decode_warps(const unsigned int* __restrict__ mask, const int* __restrict__ offsets,
                             const float* __restrict__ packed, float* __restrict__ dense) {
    const int lane = threadIdx.x;
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= ROWS) return;
    int base = offsets[row];
    for (int first = 0; first < WORDS; first += 32) {
        const unsigned int own = first + lane < WORDS ? mask[(size_t)row * WORDS + first + lane] : 0u;
        int running = __popc(own);
        for (int s = 1; s < 32; s *= 2) {
            const int other = __shfl_up_sync(0xffffffffu, running, s);
            if (lane >= s) running += other;
        }
        const int words = min(32, WORDS - first);
        for (int w = 0; w < words; ++w) {
            const unsigned int bits = __shfl_sync(0xffffffffu, own, w);
            const int before = __shfl_sync(0xffffffffu, running, w) - __popc(bits);
            float v = 0.0f;
            if ((bits >> lane) & 1u) v = packed[base + before + __popc(bits & ((1u << lane) - 1u))];
            dense[((size_t)row * WORDS + first + w) * 32 + lane] = v;
        }
        base += __shfl_sync(0xffffffffu, running, 31);
    }
}

int main() {
    const size_t maskSize = (size_t)ROWS * WORDS;
    const size_t offsetsSize = ROWS + 1;
    const size_t denseSize = (size_t)ROWS * (WORDS * 32);
    std::vector<unsigned int> h_mask(maskSize);
    std::vector<int> h_offsets(offsetsSize);
    std::vector<float> h_packed(TOTAL);
    std::vector<float> h_dense(denseSize);
    std::ifstream mask_file("data/mask.bin", std::ios::binary);
    mask_file.read((char*)h_mask.data(), maskSize * sizeof(unsigned int));
    if (!mask_file) {
        std::cerr << "cannot read data/mask.bin\n";
        return 1;
    }
    std::ifstream offsets_file("data/offsets.bin", std::ios::binary);
    offsets_file.read((char*)h_offsets.data(), offsetsSize * sizeof(int));
    if (!offsets_file) {
        std::cerr << "cannot read data/offsets.bin\n";
        return 1;
    }
    std::ifstream packed_file("data/packed.bin", std::ios::binary);
    packed_file.read((char*)h_packed.data(), TOTAL * sizeof(float));
    if (!packed_file) {
        std::cerr << "cannot read data/packed.bin\n";
        return 1;
    }

    unsigned int* d_mask;
    int* d_offsets;
    float* d_packed;
    float* d_dense;
    cudaMalloc(&d_mask, maskSize * sizeof(unsigned int));
    cudaMalloc(&d_offsets, offsetsSize * sizeof(int));
    cudaMalloc(&d_packed, TOTAL * sizeof(float));
    cudaMalloc(&d_dense, denseSize * sizeof(float));
    cudaMemcpy(d_mask, h_mask.data(), maskSize * sizeof(unsigned int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_offsets, h_offsets.data(), offsetsSize * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_packed, h_packed.data(), TOTAL * sizeof(float), cudaMemcpyHostToDevice);

    decode_warps<<<(ROWS + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(d_mask, d_offsets, d_packed, d_dense);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_dense.data(), d_dense, denseSize * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream dense_file("data/dense.bin", std::ios::binary);
    dense_file.write((const char*)h_dense.data(), denseSize * sizeof(float));

    cudaFree(d_mask);
    cudaFree(d_offsets);
    cudaFree(d_packed);
    cudaFree(d_dense);
    return 0;
}
