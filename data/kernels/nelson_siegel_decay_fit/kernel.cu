#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

static constexpr int kMaxDays = 65536, kMaxMaturities = 64, kMaxDecays = 256, kWarps = 4;

static void require(bool good, const std::string& message) {
    if (good) return;
    std::fprintf(stderr, "%s\n", message.c_str());
    std::exit(1);
}

static void require(cudaError_t status, const char* call) {
    require(status == cudaSuccess, std::string(call) + ": " + cudaGetErrorString(status));
}

// An array in managed memory, filled from or written to a file.
template <typename T>
struct Managed {
    T* data = nullptr;
    size_t count;

    explicit Managed(size_t n) : count(n) { require(cudaMallocManaged(&data, n * sizeof(T)), "cudaMallocManaged"); }
    Managed(const Managed&) = delete;
    ~Managed() { cudaFree(data); }

    void read(const char* path) {
        FILE* file = std::fopen(path, "rb");
        require(file && std::fread(data, sizeof(T), count, file) == count && std::fgetc(file) == EOF,
                std::string(path) + " is missing or of a wrong length");
        std::fclose(file);
    }
    void write(const char* path) const {
        FILE* file = std::fopen(path, "wb");
        require(file && std::fwrite(data, sizeof(T), count, file) == count && std::fclose(file) == 0,
                std::string(path) + " cannot be written");
    }
};

// Thread per decay: its three columns as an orthonormal basis (k, m, decay), and the triangle R (6, decay).
__global__ void orthonormalize(const float* maturity, const float* decay, double* basis, double* triangle,
                               int maturities, int decays) {
    const int d = blockIdx.x * blockDim.x + threadIdx.x;
    if (d >= decays) return;
    const auto q = [=](int k, int m) -> double& { return basis[(k * maturities + m) * decays + d]; };
    for (int m = 0; m < maturities; ++m) {
        const double x = static_cast<double>(decay[d]) * maturity[m], slope = -expm1(-x) / x;
        q(0, m) = 1.0;
        q(1, m) = slope;
        q(2, m) = slope - exp(-x);
    }
    int entry = 0;
    for (int k = 0; k < 3; ++k) {
        for (int j = 0; j < k; ++j) {
            double dot = 0.0;
            for (int m = 0; m < maturities; ++m) dot += q(j, m) * q(k, m);
            for (int m = 0; m < maturities; ++m) q(k, m) -= dot * q(j, m);
            triangle[entry++ * decays + d] = dot;
        }
        double square = 0.0;
        for (int m = 0; m < maturities; ++m) square += q(k, m) * q(k, m);
        const double norm = sqrt(square);
        for (int m = 0; m < maturities; ++m) q(k, m) /= norm;
        triangle[entry++ * decays + d] = norm;
    }
}

// Warp per day, lane per decay.
__global__ void fit(const float* yields, const double* basis, const double* triangle, int* best, float* beta, int days,
                    int maturities, int decays) {
    __shared__ double curve[kWarps][kMaxMaturities];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, day = blockIdx.x * kWarps + warp;
    if (day >= days) return;
    double* y = curve[warp];
    for (int m = lane; m < maturities; m += 32) y[m] = yields[static_cast<size_t>(day) * maturities + m];
    __syncwarp();

    const int stride = maturities * decays;
    double least = 1e300, a0 = 0.0, a1 = 0.0, a2 = 0.0;
    int chosen = decays;
    for (int d = lane; d < decays; d += 32) {
        const double* q = basis + d;
        double c0 = 0.0, c1 = 0.0, c2 = 0.0, error = 0.0;
        for (int m = 0; m < maturities; ++m) {
            c0 += q[m * decays] * y[m];
            c1 += q[stride + m * decays] * y[m];
            c2 += q[2 * stride + m * decays] * y[m];
        }
        for (int m = 0; m < maturities; ++m) {
            const double* at = q + m * decays;
            const double miss = y[m] - c0 * at[0] - c1 * at[stride] - c2 * at[2 * stride];
            error += miss * miss;
        }
        if (error < least) {
            least = error;
            chosen = d;
            a0 = c0, a1 = c1, a2 = c2;
        }
    }
    const int own = chosen;
    for (int step = 16; step > 0; step /= 2) {
        const double otherError = __shfl_xor_sync(0xffffffffu, least, step);
        const int other = __shfl_xor_sync(0xffffffffu, chosen, step);
        if (otherError < least || (otherError == least && other < chosen)) {
            least = otherError;
            chosen = other;
        }
    }
    if (own != chosen || own == decays) return;  // the lane that has the best decay goes on
    const double* r = triangle + chosen;         // r00, r01, r11, r02, r12, r22
    const double b2 = a2 / r[5 * decays], b1 = (a1 - r[4 * decays] * b2) / r[2 * decays];
    const double b0 = (a0 - r[3 * decays] * b2 - r[decays] * b1) / r[0];
    best[day] = chosen;
    beta[3 * day] = static_cast<float>(b0);
    beta[3 * day + 1] = static_cast<float>(b1);
    beta[3 * day + 2] = static_cast<float>(b2);
}

int main() {
    Managed<int> sizes(3);
    sizes.read("data/sizes.bin");
    const int days = sizes.data[0], maturities = sizes.data[1], decays = sizes.data[2];
    require(days >= 1 && days <= kMaxDays && maturities >= 4 && maturities <= kMaxMaturities && decays >= 1 &&
                decays <= kMaxDecays,
            "data/sizes.bin is out of range");
    Managed<float> maturity(maturities), decay(decays), yields(static_cast<size_t>(days) * maturities);
    maturity.read("data/maturity.bin");
    decay.read("data/decay.bin");
    yields.read("data/yields.bin");
    Managed<double> basis(3 * maturities * decays), triangle(6 * decays);
    Managed<int> best(days);
    Managed<float> beta(3 * days);

    orthonormalize<<<(decays + 31) / 32, 32>>>(maturity.data, decay.data, basis.data, triangle.data, maturities,
                                               decays);
    require(cudaGetLastError(), "orthonormalize");
    fit<<<(days + kWarps - 1) / kWarps, 32 * kWarps>>>(yields.data, basis.data, triangle.data, best.data, beta.data,
                                                       days, maturities, decays);
    require(cudaGetLastError(), "fit");
    require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    best.write("data/best.bin");
    beta.write("data/beta.bin");
    return 0;
}
