#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 60;
const int COLS = 300;
const int WARPS = 4;

// A warp per row: the ballot of the non-zero lanes gives every lane its place.
__global__ void pack_rows_ballot(const float* __restrict__ x, float* packed, int* columns, int* count) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32;
    if (r >= ROWS) return;
    int lane = threadIdx.x % 32;
    size_t base = (size_t)r * COLS;
    unsigned int before = (1u << lane) - 1u;
    int n = 0;
    for (int start = 0; start < COLS; start += 32) {
        int c = start + lane;
        float v = c < COLS ? x[base + c] : 0.0f;
        unsigned int votes = __ballot_sync(0xffffffffu, v != 0.0f);
        if (v != 0.0f) {
            int place = n + __popc(votes & before);
            packed[base + place] = v;
            columns[base + place] = c;
        }
        n += __popc(votes);
    }
    for (int k = n + lane; k < COLS; k += 32) {
        packed[base + k] = 0.0f;
        columns[base + k] = -1;
    }
    if (lane == 0) count[r] = n;
}

int main() {
    std::vector<float> h_x(ROWS * COLS);
    std::vector<float> h_packed(ROWS * COLS);
    std::vector<int> h_columns(ROWS * COLS);
    std::vector<int> h_count(ROWS);

    std::ifstream fin("data/x.bin", std::ios::binary);
    fin.read(reinterpret_cast<char*>(h_x.data()), ROWS * COLS * sizeof(float));
    if (!fin) {
        std::cerr << "Cannot read data/x.bin" << std::endl;
        return 1;
    }

    float* d_x;
    float* d_packed;
    int* d_columns;
    int* d_count;
    cudaMalloc(&d_x, ROWS * COLS * sizeof(float));
    cudaMalloc(&d_packed, ROWS * COLS * sizeof(float));
    cudaMalloc(&d_columns, ROWS * COLS * sizeof(int));
    cudaMalloc(&d_count, ROWS * sizeof(int));
    cudaMemcpy(d_x, h_x.data(), ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice);

    pack_rows_ballot<<<(ROWS + WARPS - 1) / WARPS, WARPS * 32>>>(d_x, d_packed, d_columns, d_count);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_packed.data(), d_packed, ROWS * COLS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_columns.data(), d_columns, ROWS * COLS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_count.data(), d_count, ROWS * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream packed_out("data/packed.bin", std::ios::binary);
    packed_out.write(reinterpret_cast<char*>(h_packed.data()), ROWS * COLS * sizeof(float));
    std::ofstream columns_dst("data/columns.bin", std::ios::binary);
    columns_dst.write(reinterpret_cast<const char*>(h_columns.data()), ROWS * COLS * sizeof(int));
    columns_dst.close();
    std::ofstream count_out("data/count.bin", std::ios::binary);
    count_out.write(reinterpret_cast<char*>(h_count.data()), ROWS * sizeof(int));

    cudaFree(d_x);
    cudaFree(d_packed);
    cudaFree(d_columns);
    cudaFree(d_count);
    return 0;
}
