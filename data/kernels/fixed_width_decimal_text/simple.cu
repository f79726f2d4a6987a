#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int WIDTH = 24;

#define CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t e = (call);                                                      \
        if (e != cudaSuccess) {                                                      \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e));       \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

// Spells the number into out[0..23], right-aligned in 23 columns, with a newline behind.
__device__ void spell(int64_t value, int decimals, uint8_t* out) {
    uint64_t rest = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    int at = WIDTH - 1;
    out[at--] = '\n';
    for (int digit = 0; digit <= decimals || rest > 0; ++digit) {
        if (digit == decimals) out[at--] = '.';
        out[at--] = static_cast<uint8_t>('0' + rest % 10);
        rest /= 10;
    }
    if (value < 0) out[at--] = '-';
    while (at >= 0) out[at--] = ' ';
}

static void readFile(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(target, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(file);
}

__global__ void format(const int64_t* values, uint8_t* text, int numbers, int decimals) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < numbers) spell(values[i], decimals, text + static_cast<size_t>(i) * WIDTH);
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int numbers = sizes[0], decimals = sizes[1];
    if (numbers < 1 || numbers > 500000 || decimals < 1 || decimals > 9) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    std::vector<int64_t> values(numbers);
    readFile("data/values.bin", values.data(), numbers * sizeof(int64_t));
    const size_t bytes = static_cast<size_t>(numbers) * WIDTH;
    std::vector<uint8_t> text(bytes);
    int64_t* dValues;
    uint8_t* dText;
    CHECK(cudaMalloc(&dValues, numbers * sizeof(int64_t)));
    CHECK(cudaMalloc(&dText, bytes));
    CHECK(cudaMemcpy(dValues, values.data(), numbers * sizeof(int64_t), cudaMemcpyHostToDevice));
    format<<<(numbers + 127) / 128, 128>>>(dValues, dText, numbers, decimals);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(text.data(), dText, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dValues));
    CHECK(cudaFree(dText));
    FILE* file = fopen("data/text.bin", "wb");
    if (!file || fwrite(text.data(), 1, bytes, file) != bytes || fclose(file) != 0) return 1;
    return 0;
}
