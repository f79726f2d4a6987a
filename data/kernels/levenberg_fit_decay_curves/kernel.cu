#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kWarps = 4;
constexpr int kSteps = 8;
constexpr double kDamping = 1.001;  // factor on the diagonal

__device__ double warpSum(double value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

__global__ void fitCurves(const double* __restrict__ time, const double* __restrict__ observed,
                          const double* __restrict__ start, double* __restrict__ fitted,
                          double* __restrict__ residual, int curves, int points) {
    const int curve = blockIdx.x * kWarps + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (curve >= curves) return;
    const double* y = observed + static_cast<size_t>(curve) * points;
    double a = start[3 * curve], b = start[3 * curve + 1], c = start[3 * curve + 2];

    for (int step = 0; step < kSteps; ++step) {
        double maa = 0, mab = 0, mac = 0, mbb = 0, mbc = 0, ga = 0, gb = 0, gc = 0;
        for (int i = lane; i < points; i += 32) {
            const double decay = exp(-b * time[i]);
            const double slope = -a * time[i] * decay;
            const double r = y[i] - a * decay - c;
            maa += decay * decay;
            mab += decay * slope;
            mac += decay;
            mbb += slope * slope;
            mbc += slope;
            ga += decay * r;
            gb += slope * r;
            gc += r;
        }
        maa = kDamping * warpSum(maa);
        mbb = kDamping * warpSum(mbb);
        const double mcc = kDamping * points;
        mab = warpSum(mab);
        mac = warpSum(mac);
        mbc = warpSum(mbc);
        // Cholesky factor (l11; l21 l22; l31 l32 l33), then two substitutions.
        const double l11 = sqrt(maa), l21 = mab / l11, l31 = mac / l11;
        const double l22 = sqrt(mbb - l21 * l21), l32 = (mbc - l21 * l31) / l22;
        const double l33 = sqrt(mcc - l31 * l31 - l32 * l32);
        const double u1 = warpSum(ga) / l11;
        const double u2 = (warpSum(gb) - l21 * u1) / l22;
        const double u3 = (warpSum(gc) - l31 * u1 - l32 * u2) / l33;
        const double dc = u3 / l33;
        const double db = (u2 - l32 * dc) / l22;
        const double da = (u1 - l21 * db - l31 * dc) / l11;
        a += da;
        b += db;
        c += dc;
    }
    double squares = 0.0;
    for (int i = lane; i < points; i += 32) {
        const double r = y[i] - a * exp(-b * time[i]) - c;
        squares += r * r;
    }
    squares = warpSum(squares);
    if (lane == 0) {
        fitted[3 * curve] = a;
        fitted[3 * curve + 1] = b;
        fitted[3 * curve + 2] = c;
        residual[curve] = squares;
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

class Doubles {
public:
    explicit Doubles(size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(double))); }
    Doubles(const std::string& path, size_t count) : Doubles(count) {
        std::vector<double> host(count);
        std::ifstream in(path, std::ios::binary);
        in.read(reinterpret_cast<char*>(host.data()), count * sizeof(double));
        if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
        check(cudaMemcpy(data_, host.data(), count * sizeof(double), cudaMemcpyHostToDevice));
    }
    Doubles(const Doubles&) = delete;
    ~Doubles() { cudaFree(data_); }
    double* get() const { return data_; }
    void save(const std::string& path) const {
        std::vector<double> host(count_);
        check(cudaMemcpy(host.data(), data_, count_ * sizeof(double), cudaMemcpyDeviceToHost));
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(host.data()), count_ * sizeof(double));
        out.close();
        if (!out) throw std::runtime_error(path + ": cannot be written");
    }

private:
    double* data_ = nullptr;
    size_t count_;
};

int main() {
    try {
        int32_t sizes[2];
        std::ifstream in("data/sizes.bin", std::ios::binary);
        if (!in.read(reinterpret_cast<char*>(sizes), sizeof sizes) || in.peek() != EOF) {
            throw std::runtime_error("data/sizes.bin: wrong size");
        }
        const int curves = sizes[0], points = sizes[1];
        if (curves < 1 || curves > 200000 || points < 3 || points > 1024) throw std::runtime_error("sizes");
        const Doubles time("data/time.bin", points), start("data/start.bin", 3 * static_cast<size_t>(curves));
        const Doubles observed("data/observed.bin", static_cast<size_t>(curves) * points);
        const Doubles fitted(3 * static_cast<size_t>(curves)), residual(curves);
        fitCurves<<<(curves + kWarps - 1) / kWarps, 32 * kWarps>>>(time.get(), observed.get(), start.get(),
                                                                   fitted.get(), residual.get(), curves, points);
        check(cudaGetLastError());
        fitted.save("data/fitted.bin");
        residual.save("data/residual.bin");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
