#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

const int PLANES = 9;
const int HEIGHT = 50;
const int WIDTH = 70;
const int ROWS_A_BLOCK = 16;

// A thread keeps its mask byte for a column and walks down sixteen rows.
__global__ void select_columns(const unsigned char* __restrict__ mask, const float* __restrict__ left,
                               const float* __restrict__ right, float* __restrict__ selected) {
    const int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= WIDTH) return;
    const int p = blockIdx.z;
    const int end = min(((int)blockIdx.y + 1) * ROWS_A_BLOCK, HEIGHT);
    const bool take = mask[p * WIDTH + w] != 0;
    for (int h = blockIdx.y * ROWS_A_BLOCK; h < end; ++h) {
        selected[((size_t)p * HEIGHT + h) * WIDTH + w] = take ? left[p * HEIGHT + h] : right[h * WIDTH + w];
    }
}

int main() {
    size_t maskSize = size_t(PLANES) * WIDTH;
    size_t leftSize = size_t(PLANES) * HEIGHT;
    size_t rightSize = size_t(HEIGHT) * WIDTH;
    size_t selectedSize = size_t(PLANES) * HEIGHT * WIDTH;
    std::vector<unsigned char> mask(maskSize);
    std::vector<float> left(leftSize), right(rightSize), selected(selectedSize);
    FILE* f_mask = fopen("data/mask.bin", "rb");
    if (!f_mask || fread(mask.data(), sizeof(unsigned char), maskSize, f_mask) != maskSize) return 1;
    fclose(f_mask);
    FILE* f_left = fopen("data/left.bin", "rb");
    if (!f_left || fread(left.data(), sizeof(float), leftSize, f_left) != leftSize) return 1;
    fclose(f_left);
    FILE* f_right = fopen("data/right.bin", "rb");
    if (!f_right || fread(right.data(), sizeof(float), rightSize, f_right) != rightSize) return 1;
    fclose(f_right);
    unsigned char* d_mask = nullptr;
    cudaMalloc(&d_mask, maskSize * sizeof(unsigned char));
    cudaMemcpy(d_mask, mask.data(), maskSize * sizeof(unsigned char), cudaMemcpyHostToDevice);
    float* d_left = nullptr;
    cudaMalloc(&d_left, leftSize * sizeof(float));
    cudaMemcpy(d_left, left.data(), leftSize * sizeof(float), cudaMemcpyHostToDevice);
    float* d_right = nullptr;
    cudaMalloc(&d_right, rightSize * sizeof(float));
    cudaMemcpy(d_right, right.data(), rightSize * sizeof(float), cudaMemcpyHostToDevice);
    float* d_selected = nullptr;
    cudaMalloc(&d_selected, selectedSize * sizeof(float));
    dim3 grid((WIDTH + 128 - 1) / 128, (HEIGHT + ROWS_A_BLOCK - 1) / ROWS_A_BLOCK, PLANES);
    select_columns<<<grid, 128>>>(d_mask, d_left, d_right, d_selected);
    cudaMemcpy(selected.data(), d_selected, selectedSize * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* o_selected = fopen("data/selected.bin", "wb");
    fwrite(selected.data(), sizeof(float), selectedSize, o_selected);
    fclose(o_selected);
    return 0;
}
