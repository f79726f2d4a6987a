#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

static const int ROWS = 300;
static const int COLS = 400;
static const int RANK = 16;
static const int ENTRIES = 3000;
static const int QUADS = RANK / 4;
static const int THREADS = 256;

// Four lanes an entry, with 16-byte loads when the rank is a multiple of four and single ones for the rest.
__global__ void sampled_by_four(const float* __restrict__ left, const float* __restrict__ right,
                                const int* __restrict__ row, const int* __restrict__ col,
                                const float* __restrict__ value, float* __restrict__ product) {
    int k = (blockIdx.x * THREADS + threadIdx.x) / 4;
    int lane = threadIdx.x % 4;
    bool valid = k < ENTRIES;
    float sum = 0.0f;
    if (valid) {
        const float* a = left + (size_t)row[k] * RANK;
        const float* b = right + (size_t)col[k] * RANK;
        if (RANK % 4 == 0) {
            for (int q = lane; q < QUADS; q += 4) {
                float4 x = reinterpret_cast<const float4*>(a)[q];
                float4 y = reinterpret_cast<const float4*>(b)[q];
                sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
            }
        } else {
            for (int j = lane; j < RANK; j += 4) sum += a[j] * b[j];
        }
    }
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    if (valid && lane == 0) product[k] = value[k] * sum;
}

void solve(const float* d_left, const float* d_right, const int* d_row, const int* d_col,
        const float* d_value, float* d_product) {
    int groups = THREADS / 4;
    sampled_by_four<<<(ENTRIES + groups - 1) / groups, THREADS>>>(d_left, d_right, d_row, d_col, d_value,
            d_product);
}

int main() {
    std::vector<float> h_left(ROWS * RANK);
    std::vector<float> h_right(COLS * RANK);
    std::vector<int> h_row(ENTRIES);
    std::vector<int> h_col(ENTRIES);
    std::vector<float> h_value(ENTRIES);
    std::vector<float> h_product(ENTRIES);
    FILE* in0 = fopen("data/left.bin", "rb");
    if (!in0 || fread(h_left.data(), sizeof(float), h_left.size(), in0) != h_left.size()) {
        fprintf(stderr, "cannot read data/left.bin\n");
        return 1;
    }
    fclose(in0);
    FILE* in1 = fopen("data/right.bin", "rb");
    if (!in1 || fread(h_right.data(), sizeof(float), h_right.size(), in1) != h_right.size()) {
        fprintf(stderr, "cannot read data/right.bin\n");
        return 1;
    }
    fclose(in1);
    FILE* in2 = fopen("data/row.bin", "rb");
    if (!in2 || fread(h_row.data(), sizeof(int), h_row.size(), in2) != h_row.size()) {
        fprintf(stderr, "cannot read data/row.bin\n");
        return 1;
    }
    fclose(in2);
    FILE* in3 = fopen("data/col.bin", "rb");
    if (!in3 || fread(h_col.data(), sizeof(int), h_col.size(), in3) != h_col.size()) {
        fprintf(stderr, "cannot read data/col.bin\n");
        return 1;
    }
    fclose(in3);
    FILE* in4 = fopen("data/value.bin", "rb");
    if (!in4 || fread(h_value.data(), sizeof(float), h_value.size(), in4) != h_value.size()) {
        fprintf(stderr, "cannot read data/value.bin\n");
        return 1;
    }
    fclose(in4);

    float *d_left, *d_right, *d_value, *d_product;
    int *d_row, *d_col;
    cudaMalloc(&d_left, ROWS * RANK * sizeof(float));
    cudaMalloc(&d_right, COLS * RANK * sizeof(float));
    cudaMalloc(&d_row, ENTRIES * sizeof(int));
    cudaMalloc(&d_col, ENTRIES * sizeof(int));
    cudaMalloc(&d_value, ENTRIES * sizeof(float));
    cudaMalloc(&d_product, ENTRIES * sizeof(float));
    cudaMemcpy(d_left, h_left.data(), ROWS * RANK * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_right, h_right.data(), COLS * RANK * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_row, h_row.data(), ENTRIES * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_col, h_col.data(), ENTRIES * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_value, h_value.data(), ENTRIES * sizeof(float), cudaMemcpyHostToDevice);
    solve(d_left, d_right, d_row, d_col, d_value, d_product);
    cudaMemcpy(h_product.data(), d_product, ENTRIES * sizeof(float), cudaMemcpyDeviceToHost);

    FILE* out0 = fopen("data/product.bin", "wb");
    fwrite(h_product.data(), sizeof(float), h_product.size(), out0);
    fclose(out0);

    cudaFree(d_left);
    cudaFree(d_right);
    cudaFree(d_row);
    cudaFree(d_col);
    cudaFree(d_value);
    cudaFree(d_product);
    return 0;
}
