#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int kRecords = 500;
const int kFields = 60;

__global__ void column_digits(const float* table, int* digits) {
    __shared__ float peak[256];
    int f = blockIdx.x;
    float m = 0.0f;
    for (int r = threadIdx.x; r < kRecords; r += 256) m = fmaxf(m, fabsf(table[(size_t)r * kFields + f]));
    peak[threadIdx.x] = m;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s) peak[threadIdx.x] = fmaxf(peak[threadIdx.x], peak[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        int j = 0;
        float power = 1.0f;
        while (peak[0] >= power) {
            power *= 10.0f;
            j++;
        }
        digits[f] = j;
    }
}

__global__ void divide_columns(const float* table, const int* digits, float* scaled) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kRecords * kFields) return;
    float power = 1.0f;
    for (int k = 0; k < digits[i % kFields]; k++) power *= 10.0f;
    scaled[i] = table[i] / power;
}

int main() {
    const int table_elems = kRecords * kFields;
    std::vector<float> host_table(table_elems), host_scaled(table_elems);
    std::vector<int> host_digits(kFields);
    std::ifstream file_table("data/table.bin", std::ios::binary);
    if (!file_table.read((char*)host_table.data(), table_elems * sizeof(float))) return 1;
    float *d_table, *d_scaled;
    int *d_digits;
    cudaMalloc(&d_table, table_elems * sizeof(float));
    cudaMalloc(&d_scaled, table_elems * sizeof(float));
    cudaMalloc(&d_digits, kFields * sizeof(int));
    cudaMemcpy(d_table, host_table.data(), table_elems * sizeof(float), cudaMemcpyHostToDevice);
    column_digits<<<kFields, 256>>>(d_table, d_digits);
    divide_columns<<<(kRecords * kFields + 256 - 1) / 256, 256>>>(d_table, d_digits, d_scaled);
    cudaMemcpy(host_scaled.data(), d_scaled, table_elems * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_digits.data(), d_digits, kFields * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/scaled.bin", std::ios::binary).write((char*)host_scaled.data(),
        table_elems * sizeof(float));
    std::ofstream("data/digits.bin", std::ios::binary).write((char*)host_digits.data(), kFields * sizeof(int));
    return 0;
}
