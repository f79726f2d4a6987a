#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int THREADS = 256, BLOCKS = 64, SUMS = 9;

// Sums of x^0..x^4, then y, y x, y x^2 over the paths in the money, and the sum of y over all paths.
__global__ void gather(const float* __restrict__ prices, double* __restrict__ cash, double* __restrict__ partial,
                       double strike, double discount, int paths) {
    __shared__ double shared[THREADS];
    double sums[SUMS] = {};
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < paths; i += BLOCKS * THREADS) {
        const double y = cash[i] * discount;
        cash[i] = y;
        sums[8] += y;
        if (prices[i] < strike) {
            const double x = prices[i] / strike - 1.0, square = x * x;
            sums[0] += 1.0;
            sums[1] += x;
            sums[2] += square;
            sums[3] += square * x;
            sums[4] += square * square;
            sums[5] += y;
            sums[6] += y * x;
            sums[7] += y * square;
        }
    }
    for (int k = 0; k < SUMS; ++k) {
        shared[threadIdx.x] = sums[k];
        __syncthreads();
        for (int half = THREADS / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) partial[k * BLOCKS + blockIdx.x] = shared[0];
        __syncthreads();
    }
}

__device__ double determinant(const double (&m)[3][3]) {
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

// One warp adds the blocks' sums; its first lane solves. mean gets the mean of y over all paths.
__global__ void solve(const double* __restrict__ partial, double* __restrict__ coefficients, double* mean, int paths) {
    double s[SUMS];
    for (int k = 0; k < SUMS; ++k) {
        double sum = partial[k * BLOCKS + threadIdx.x] + partial[k * BLOCKS + 32 + threadIdx.x];
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
        s[k] = sum;
    }
    if (threadIdx.x != 0) return;
    *mean = s[8] / paths;
    if (!coefficients) return;
    // Centred on the mean of x, which keeps the determinant from cancelling.
    const double n = s[0], shift = n > 0.0 ? s[1] / n : 0.0, q = shift * shift;
    const double c2 = s[2] - n * q, c3 = s[3] - 3.0 * shift * s[2] + 2.0 * n * q * shift;
    const double c4 = s[4] - 4.0 * shift * s[3] + 6.0 * q * s[2] - 3.0 * n * q * q;
    const double d[3] = {s[5], s[6] - shift * s[5], s[7] - 2.0 * shift * s[6] + q * s[5]};
    const double m[3][3] = {{n, 0.0, c2}, {0.0, c2, c3}, {c2, c3, c4}};
    double result[3] = {0.0, 0.0, 0.0};
    if (n >= 3.0) {
        const double whole = determinant(m);
        for (int column = 0; column < 3; ++column) {
            double changed[3][3];
            for (int r = 0; r < 3; ++r) {
                for (int c = 0; c < 3; ++c) changed[r][c] = c == column ? d[r] : m[r][c];
            }
            result[column] = determinant(changed) / whole;
        }
    }
    coefficients[0] = result[0] - result[1] * shift + result[2] * q;
    coefficients[1] = result[1] - 2.0 * result[2] * shift;
    coefficients[2] = result[2];
}

__global__ void decide(const float* __restrict__ prices, const double* __restrict__ coefficients,
                       const double* __restrict__ partial, double* __restrict__ cash, double strike, int paths) {
    __shared__ double inside;
    if (threadIdx.x == 0) {
        inside = 0.0;
        for (int b = 0; b < BLOCKS; ++b) inside += partial[b];
    }
    __syncthreads();
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= paths || inside < 3.0 || !(prices[i] < strike)) return;
    const double x = prices[i] / strike - 1.0, now = strike - prices[i];
    if (now > coefficients[0] + x * (coefficients[1] + x * coefficients[2])) cash[i] = now;
}

__global__ void payOff(const float* __restrict__ prices, double* __restrict__ cash, double strike, int paths) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < paths) cash[i] = fmax(strike - prices[i], 0.0);
}

#define CHECK(call)                                                                    \
    do {                                                                               \
        cudaError_t s_ = (call);                                                       \
        if (s_ != cudaSuccess) {                                                       \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(s_));        \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

static void readFile(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(target, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s: wrong length\n", path);
        exit(1);
    }
    fclose(file);
}

static void writeFile(const char* path, const double* device, size_t count) {
    std::vector<double> host(count);
    CHECK(cudaMemcpy(host.data(), device, count * sizeof(double), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host.data(), sizeof(double), count, file) != count || fclose(file) != 0) exit(1);
}

int main() {
    int sizes[2];
    double terms[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    readFile("data/terms.bin", terms, sizeof terms);
    const int paths = sizes[0], dates = sizes[1];
    if (paths < 3 || paths > 200000 || dates < 2 || dates > 64) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const double strike = terms[0], discount = std::exp(-terms[1] * terms[2]);
    std::vector<float> prices(static_cast<size_t>(dates) * paths);
    readFile("data/prices.bin", prices.data(), prices.size() * sizeof(float));
    float* dPrices;
    double *cash, *partial, *coefficients, *value;
    CHECK(cudaMalloc(&dPrices, prices.size() * sizeof(float)));
    CHECK(cudaMalloc(&cash, paths * sizeof(double)));
    CHECK(cudaMalloc(&partial, SUMS * BLOCKS * sizeof(double)));
    CHECK(cudaMalloc(&coefficients, 3 * (dates - 1) * sizeof(double)));
    CHECK(cudaMalloc(&value, sizeof(double)));
    CHECK(cudaMemcpy(dPrices, prices.data(), prices.size() * sizeof(float), cudaMemcpyHostToDevice));
    const int blocks = (paths + THREADS - 1) / THREADS;
    payOff<<<blocks, THREADS>>>(dPrices + static_cast<size_t>(dates - 1) * paths, cash, strike, paths);
    for (int date = dates - 2; date >= 0; --date) {
        const float* row = dPrices + static_cast<size_t>(date) * paths;
        gather<<<BLOCKS, THREADS>>>(row, cash, partial, strike, discount, paths);
        solve<<<1, 32>>>(partial, coefficients + 3 * date, value, paths);
        decide<<<blocks, THREADS>>>(row, coefficients + 3 * date, partial, cash, strike, paths);
    }
    CHECK(cudaGetLastError());
    writeFile("data/coefficients.bin", coefficients, 3 * static_cast<size_t>(dates - 1));
    writeFile("data/cashflows.bin", cash, paths);
    gather<<<BLOCKS, THREADS>>>(dPrices, cash, partial, strike, discount, paths);
    solve<<<1, 32>>>(partial, nullptr, value, paths);
    CHECK(cudaGetLastError());
    writeFile("data/value.bin", value, 1);
    CHECK(cudaFree(dPrices));
    for (double* pointer : {cash, partial, coefficients, value}) CHECK(cudaFree(pointer));
    return 0;
}
