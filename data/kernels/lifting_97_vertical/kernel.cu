#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxSide = 8192;
constexpr int kColumns = 32, kThreadRows = 16, kRows = 64, kHalo = 4, kTileRows = kRows + 2 * kHalo;
constexpr float kScale = 1.230174105f;

__device__ int reflect(int row, int height) {
    while (row < 0 || row >= height) row = row < 0 ? -row : 2 * (height - 1) - row;
    return row;
}

// Step 1 to 4: adds weight * (row above + row below) to the rows step, step + 2, ... below kTileRows - step.
__device__ void liftRows(float (*tile)[kColumns], int step, float weight) {
    for (int r = step + 2 * threadIdx.y; r < kTileRows - step; r += 2 * kThreadRows) {
        tile[r][threadIdx.x] += weight * (tile[r - 1][threadIdx.x] + tile[r + 1][threadIdx.x]);
    }
    __syncthreads();
}

__global__ void forward97(const float* __restrict__ x, float* __restrict__ y, int height, int width) {
    __shared__ float tile[kTileRows][kColumns];
    const int column = blockIdx.x * kColumns + threadIdx.x;
    const int top = static_cast<int>(blockIdx.y) * kRows - kHalo;  // even
    for (int r = threadIdx.y; r < kTileRows; r += kThreadRows) {
        tile[r][threadIdx.x] = x[static_cast<size_t>(reflect(top + r, height)) * width + min(column, width - 1)];
    }
    __syncthreads();
    liftRows(tile, 1, -1.586134342f);
    liftRows(tile, 2, -0.05298011854f);
    liftRows(tile, 3, 0.8829110762f);
    liftRows(tile, 4, 0.4435068522f);

    const int evens = (height + 1) / 2;
    for (int r = threadIdx.y; r < kRows; r += kThreadRows) {
        const int row = top + kHalo + r;
        if (row >= height || column >= width) continue;
        const float value = tile[r + kHalo][threadIdx.x];
        const int target = row % 2 == 0 ? row / 2 : evens + row / 2;
        y[static_cast<size_t>(target) * width + column] = row % 2 == 0 ? value / kScale : value * kScale;
    }
}

static void die(const char* where, const char* reason) {
    std::fprintf(stderr, "%s: %s\n", where, reason);
    std::exit(1);
}

static void check(cudaError_t status, const char* where) {
    if (status != cudaSuccess) die(where, cudaGetErrorString(status));
}

static void readFile(const char* path, void* target, std::streamsize bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes) die(path, "missing, or of the wrong length");
    in.seekg(0);
    if (!in.read(static_cast<char*>(target), bytes)) die(path, "cannot be read");
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int height = sizes[0], width = sizes[1];
    if (height < 2 || height > kMaxSide || width < 1 || width > kMaxSide) die("data/sizes.bin", "out of range");
    std::vector<float> image(static_cast<size_t>(height) * width);
    const size_t bytes = image.size() * sizeof(float);
    readFile("data/x.bin", image.data(), bytes);

    float *x = nullptr, *y = nullptr;
    check(cudaMalloc(&x, bytes), "allocate x");
    check(cudaMalloc(&y, bytes), "allocate y");
    check(cudaMemcpy(x, image.data(), bytes, cudaMemcpyHostToDevice), "upload");
    const dim3 block(kColumns, kThreadRows);
    const dim3 grid((width + kColumns - 1) / kColumns, (height + kRows - 1) / kRows);
    forward97<<<grid, block>>>(x, y, height, width);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(image.data(), y, bytes, cudaMemcpyDeviceToHost), "download");
    check(cudaFree(x), "free");
    check(cudaFree(y), "free");

    std::ofstream out("data/y.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(image.data()), bytes);
    out.close();
    if (!out) die("data/y.bin", "cannot be written");
    return 0;
}
