#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int A_TOTAL = 8000;
constexpr int B_TOTAL = 6000;
constexpr int ROWS = 200;
const size_t a_offsetsSize = ROWS + 1;
const size_t joinedSize = A_TOTAL + B_TOTAL;

__global__ void join_rows(const float* a, const int* a_off, const float* b, const int* b_off, float* joined,
                          int* joined_off) {
    int r = blockIdx.x;
    int start = a_off[r] + b_off[r];
    int na = a_off[r + 1] - a_off[r];
    int nb = b_off[r + 1] - b_off[r];
    for (int k = threadIdx.x; k < na; k += blockDim.x) joined[start + k] = a[a_off[r] + k];
    for (int k = threadIdx.x; k < nb; k += blockDim.x) joined[start + na + k] = b[b_off[r] + k];
    if (threadIdx.x == 0) {
        joined_off[r] = start;
        if (r == ROWS - 1) joined_off[ROWS] = A_TOTAL + B_TOTAL;
    }
}

void launch(const float* dev_a_values, const int* dev_a_offsets, const float* dev_b_values,
            const int* dev_b_offsets, float* dev_joined, int* dev_joined_offsets) {
    join_rows<<<ROWS, 64>>>(dev_a_values, dev_a_offsets, dev_b_values, dev_b_offsets, dev_joined,
            dev_joined_offsets);
}

int main() {
    std::vector<float> h_a_values(A_TOTAL);
    std::vector<int> h_a_offsets(a_offsetsSize);
    std::vector<float> h_b_values(B_TOTAL);
    std::vector<int> h_b_offsets(a_offsetsSize);
    std::vector<float> h_joined(joinedSize);
    std::vector<int> h_joined_offsets(a_offsetsSize);
    FILE* a_values_file = fopen("data/a_values.bin", "rb");
    if (!a_values_file || fread(h_a_values.data(), sizeof(float), A_TOTAL, a_values_file) != A_TOTAL) {
        fprintf(stderr, "cannot read data/a_values.bin\n");
        return 1;
    }
    fclose(a_values_file);
    FILE* a_offsets_file = fopen("data/a_offsets.bin", "rb");
    if (!a_offsets_file || fread(h_a_offsets.data(), sizeof(int), a_offsetsSize,
            a_offsets_file) != a_offsetsSize) {
        fprintf(stderr, "cannot read data/a_offsets.bin\n");
        return 1;
    }
    fclose(a_offsets_file);
    FILE* b_values_file = fopen("data/b_values.bin", "rb");
    if (!b_values_file || fread(h_b_values.data(), sizeof(float), B_TOTAL, b_values_file) != B_TOTAL) {
        fprintf(stderr, "cannot read data/b_values.bin\n");
        return 1;
    }
    fclose(b_values_file);
    FILE* b_offsets_file = fopen("data/b_offsets.bin", "rb");
    if (!b_offsets_file || fread(h_b_offsets.data(), sizeof(int), a_offsetsSize,
            b_offsets_file) != a_offsetsSize) {
        fprintf(stderr, "cannot read data/b_offsets.bin\n");
        return 1;
    }
    fclose(b_offsets_file);

    float *dev_a_values, *dev_b_values, *dev_joined;
    int *dev_a_offsets, *dev_b_offsets, *dev_joined_offsets;
    cudaMalloc(&dev_a_values, A_TOTAL * sizeof(float));
    cudaMalloc(&dev_a_offsets, a_offsetsSize * sizeof(int));
    cudaMalloc(&dev_b_values, B_TOTAL * sizeof(float));
    cudaMalloc(&dev_b_offsets, a_offsetsSize * sizeof(int));
    cudaMalloc(&dev_joined, joinedSize * sizeof(float));
    cudaMalloc(&dev_joined_offsets, a_offsetsSize * sizeof(int));
    cudaMemcpy(dev_a_values, h_a_values.data(), A_TOTAL * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_a_offsets, h_a_offsets.data(), a_offsetsSize * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_b_values, h_b_values.data(), B_TOTAL * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_b_offsets, h_b_offsets.data(), a_offsetsSize * sizeof(int), cudaMemcpyHostToDevice);

    launch(dev_a_values, dev_a_offsets, dev_b_values, dev_b_offsets, dev_joined, dev_joined_offsets);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(status));
        return 1;
    }
    cudaMemcpy(h_joined.data(), dev_joined, joinedSize * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_joined_offsets.data(), dev_joined_offsets, a_offsetsSize * sizeof(int), cudaMemcpyDeviceToHost);

    FILE* joined_file = fopen("data/joined.bin", "wb");
    fwrite(h_joined.data(), sizeof(float), joinedSize, joined_file);
    fclose(joined_file);
    FILE* joined_offsets_file = fopen("data/joined_offsets.bin", "wb");
    fwrite(h_joined_offsets.data(), sizeof(int), a_offsetsSize, joined_offsets_file);
    fclose(joined_offsets_file);
    cudaFree(dev_a_values);
    cudaFree(dev_a_offsets);
    cudaFree(dev_b_values);
    cudaFree(dev_b_offsets);
    cudaFree(dev_joined);
    cudaFree(dev_joined_offsets);
    return 0;
}
