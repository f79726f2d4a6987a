#include <cuda_runtime.h>
#include <fstream>
#include <iostream>

static const int ROWS = 200;
static const int COLS = 150;
static const int TX = 32;
static const int TY = 8;
static const int SPAN = (ROWS + TY - 1) / TY;

// Eight bands of rows per column: count, mean and squared deviations of the bands above start each band's own scan.
__global__ void expanding_variance_bands(const float* __restrict__ x, float* __restrict__ var) {
    __shared__ float means[TY][TX], squares[TY][TX];
    int tx = threadIdx.x, ty = threadIdx.y;
    int c = blockIdx.x * TX + tx;
    int begin = min(ty * SPAN, ROWS), end = min(begin + SPAN, ROWS);
    float mean = 0.0f, m2 = 0.0f;
    if (c < COLS) {
        for (int r = begin; r < end; ++r) {
            float v = x[(size_t)r * COLS + c];
            float d = v - mean;
            mean += d / (r - begin + 1);
            m2 += d * (v - mean);
        }
    }
    means[ty][tx] = mean;
    squares[ty][tx] = m2;
    __syncthreads();
    if (c >= COLS) return;
    mean = 0.0f;
    m2 = 0.0f;
    for (int k = 0; k < ty; ++k) {
        float n = min(k * SPAN, ROWS);
        float total = min((k + 1) * SPAN, ROWS);
        float nb = total - n;
        if (nb == 0.0f) break;
        float d = means[k][tx] - mean;
        mean += d * nb / total;
        m2 += squares[k][tx] + d * d * n * nb / total;
    }
    for (int r = begin; r < end; ++r) {
        float v = x[(size_t)r * COLS + c];
        float d = v - mean;
        mean += d / (r + 1);
        m2 += d * (v - mean);
        var[(size_t)r * COLS + c] = r > 0 ? m2 / r : 0.0f;
    }
}

int main() {
    const size_t numel = (size_t)ROWS * COLS;
    float* x;
    float* var;
    cudaMallocManaged(&x, numel * sizeof(float));
    cudaMallocManaged(&var, numel * sizeof(float));

    std::ifstream input("data/x.bin", std::ios::binary);
    if (!input.read(reinterpret_cast<char*>(x), numel * sizeof(float))) {
        std::cerr << "cannot read data/x.bin\n";
        return 1;
    }

    dim3 block(TX, TY);
    expanding_variance_bands<<<(COLS - 1) / TX + 1, block>>>(x, var);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    std::ofstream output("data/var.bin", std::ios::binary);
    output.write(reinterpret_cast<char*>(var), numel * sizeof(float));

    cudaFree(x);
    cudaFree(var);
    return 0;
}
