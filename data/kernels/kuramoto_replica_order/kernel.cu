#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kThreads = 256, kEach = 4, kMaxOscillators = kThreads * kEach;
constexpr double kStep = 0.03125;

// The mean of exp(i angle) over the block's oscillators; `sums` alternates, so that one barrier a call is enough.
__device__ double2 meanField(const double2 (&unit)[kEach], int oscillators, double2* sums) {
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    double c = 0.0, s = 0.0;
    for (int k = 0; k < kEach; ++k) {
        if (static_cast<int>(threadIdx.x) + k * kThreads < oscillators) {
            c += unit[k].x;
            s += unit[k].y;
        }
    }
    for (int step = 16; step > 0; step /= 2) {
        c += warp.shfl_down(c, step);
        s += warp.shfl_down(s, step);
    }
    if (warp.thread_rank() == 0) sums[threadIdx.x / 32] = make_double2(c, s);
    block.sync();
    c = 0.0;
    s = 0.0;
    for (int w = 0; w < kThreads / 32; ++w) {
        c += sums[w].x;
        s += sums[w].y;
    }
    return make_double2(c / oscillators, s / oscillators);
}

__global__ void __launch_bounds__(kThreads) synchronize(const double* __restrict__ omega,
                                                        const double* __restrict__ coupling,
                                                        const double* __restrict__ theta, double* __restrict__ order,
                                                        double* __restrict__ finalTheta, int oscillators, int steps) {
    __shared__ double2 sums[2][kThreads / 32];
    const size_t row = static_cast<size_t>(blockIdx.x) * oscillators;
    const double strength = coupling[blockIdx.x];
    double own[kEach], phase[kEach], total[kEach];
    double2 unit[kEach];
    for (int k = 0; k < kEach; ++k) {
        const int i = threadIdx.x + k * kThreads;
        own[k] = i < oscillators ? omega[i] : 0.0;
        phase[k] = i < oscillators ? theta[row + i] : 0.0;
        sincos(phase[k], &unit[k].y, &unit[k].x);
    }
    double2 field = meanField(unit, oscillators, sums[1]);
    for (int step = 0; step < steps; ++step) {
        for (int k = 0; k < kEach; ++k) total[k] = 0.0;
        for (int stage = 0; stage < 4; ++stage) {
            const double weight = stage == 0 || stage == 3 ? 1.0 : 2.0, ahead = stage == 2 ? kStep : 0.5 * kStep;
            for (int k = 0; k < kEach; ++k) {
                const double speed = own[k] + strength * (field.y * unit[k].x - field.x * unit[k].y);
                total[k] += weight * speed;
                double angle = phase[k] + ahead * speed;
                if (stage == 3) angle = phase[k] += kStep / 6.0 * total[k];
                sincos(angle, &unit[k].y, &unit[k].x);
            }
            field = meanField(unit, oscillators, sums[stage % 2]);
        }
        if (threadIdx.x == 0) order[static_cast<size_t>(blockIdx.x) * steps + step] = hypot(field.x, field.y);
    }
    for (int k = 0; k < kEach; ++k) {
        const int i = threadIdx.x + k * kThreads;
        if (i < oscillators) finalTheta[row + i] = phase[k];
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

template <typename T>
class Device {
  public:
    explicit Device(size_t n) : n_(n) { check(cudaMalloc(&data_, n * sizeof(T))); }
    Device(Device&& other) noexcept : data_(std::exchange(other.data_, nullptr)), n_(other.n_) {}
    ~Device() { cudaFree(data_); }
    T* get() const { return data_; }

    void save(const std::string& path) const {
        std::vector<T> host(n_);
        check(cudaMemcpy(host.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost));
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(host.data()), n_ * sizeof(T));
        if (!out.flush()) throw std::runtime_error(path + ": cannot be written");
    }

  private:
    T* data_ = nullptr;
    size_t n_;
};

template <typename T>
static std::vector<T> load(const std::string& path, size_t n) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const auto bytes = static_cast<std::streamoff>(n * sizeof(T));
    if (!in || in.tellg() != bytes) throw std::runtime_error(path + ": wrong size");
    std::vector<T> values(n);
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), bytes)) throw std::runtime_error(path + ": unreadable");
    return values;
}

static Device<double> upload(const std::string& path, size_t n) {
    const auto values = load<double>(path, n);
    Device<double> device(n);
    check(cudaMemcpy(device.get(), values.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    try {
        const auto sizes = load<int>("data/sizes.bin", 3);
        const int replicas = sizes[0], oscillators = sizes[1], steps = sizes[2];
        if (replicas < 1 || replicas > 100000 || oscillators < 2 || oscillators > kMaxOscillators || steps < 1 ||
            steps > 1000) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const size_t phases = static_cast<size_t>(replicas) * oscillators;
        const auto omega = upload("data/omega.bin", oscillators);
        const auto coupling = upload("data/coupling.bin", replicas);
        const auto theta = upload("data/theta.bin", phases);
        const Device<double> order(static_cast<size_t>(replicas) * steps), finalTheta(phases);
        synchronize<<<replicas, kThreads>>>(omega.get(), coupling.get(), theta.get(), order.get(), finalTheta.get(),
                                            oscillators, steps);
        check(cudaGetLastError());
        order.save("data/order.bin");
        finalTheta.save("data/final.bin");
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
