#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

constexpr int kThreads = 256;
constexpr int kOutputs = 512;                           // window starts of a block
constexpr int kMaxHalf = 1024;
constexpr int kEach = (kOutputs + kMaxHalf) / kThreads;  // products that a thread scans

struct Sums {
    long long re, im, power;
};

__device__ Sums add(Sums a, Sums b) { return {a.re + b.re, a.im + b.im, a.power + b.power}; }

__device__ Sums fromLeft(Sums v, int step) {
    return {__shfl_up_sync(~0u, v.re, step), __shfl_up_sync(~0u, v.im, step), __shfl_up_sync(~0u, v.power, step)};
}

__global__ void findRepeats(const short2* __restrict__ iq, longlong2* __restrict__ correlation,
                            float* __restrict__ metric, int samples, int half) {
    __shared__ long long re[kThreads * kEach + 1], im[kThreads * kEach + 1], power[kThreads * kEach + 1];
    __shared__ Sums warpSums[kThreads / 32];
    const int starts = samples - 2 * half + 1, base = blockIdx.x * kOutputs;
    const int outputs = min(kOutputs, starts - base), products = outputs + half - 1;
    const short2* stream = iq + static_cast<size_t>(blockIdx.y) * samples + base;

    for (int m = threadIdx.x; m < kThreads * kEach; m += kThreads) {
        Sums p{};
        if (m < products) {
            const short2 a = stream[m], b = stream[m + half];
            p.re = static_cast<long long>(a.x) * b.x + static_cast<long long>(a.y) * b.y;
            p.im = static_cast<long long>(a.x) * b.y - static_cast<long long>(a.y) * b.x;
            p.power = static_cast<long long>(b.x) * b.x + static_cast<long long>(b.y) * b.y;
        }
        re[m + 1] = p.re;
        im[m + 1] = p.im;
        power[m + 1] = p.power;
    }
    if (threadIdx.x == 0) re[0] = im[0] = power[0] = 0;
    __syncthreads();

    // Inclusive scan: six neighbours in a thread, then the threads of a warp, then the warps.
    const int first = threadIdx.x * kEach + 1, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Sums own{};
    for (int k = first; k < first + kEach; ++k) own = add(own, Sums{re[k], im[k], power[k]});
    Sums run = own;
    for (int step = 1; step < 32; step *= 2) {
        const Sums left = fromLeft(run, step);
        if (lane >= step) run = add(run, left);
    }
    if (lane == 31) warpSums[warp] = run;
    __syncthreads();
    for (int w = 0; w < warp; ++w) run = add(run, warpSums[w]);
    run = {run.re - own.re, run.im - own.im, run.power - own.power};
    for (int k = first; k < first + kEach; ++k) {
        run = add(run, Sums{re[k], im[k], power[k]});
        re[k] = run.re;
        im[k] = run.im;
        power[k] = run.power;
    }
    __syncthreads();

    for (int d = threadIdx.x; d < outputs; d += kThreads) {
        const longlong2 p = make_longlong2(re[d + half] - re[d], im[d + half] - im[d]);
        const double x = static_cast<double>(p.x), y = static_cast<double>(p.y);
        const double energy = static_cast<double>(power[d + half] - power[d]);
        const size_t at = static_cast<size_t>(blockIdx.y) * starts + base + d;
        correlation[at] = p;
        metric[at] = energy > 0.0 ? static_cast<float>((x * x + y * y) / (energy * energy)) : 0.0f;
    }
}

[[noreturn]] void die(const char* what, const char* why) {
    std::fprintf(stderr, "%s: %s\n", what, why);
    std::exit(1);
}

void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) die(what, cudaGetErrorString(status));
}

struct Release {
    void operator()(void* pointer) const { cudaFree(pointer); }
};

template <typename T>
std::unique_ptr<T, Release> onDevice(size_t count) {
    T* pointer = nullptr;
    check(cudaMalloc(&pointer, count * sizeof(T)), "cudaMalloc");
    return std::unique_ptr<T, Release>(pointer);
}

template <typename T>
std::vector<T> load(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = std::fopen(path, "rb");
    if (!file) die(path, "cannot be opened");
    const bool whole = std::fread(values.data(), sizeof(T), count, file) == count && std::fgetc(file) == EOF;
    if (!whole) die(path, "not of the expected length");
    std::fclose(file);
    return values;
}

template <typename T>
void save(const char* path, const T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), path);
    FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), sizeof(T), count, file) != count) die(path, "cannot be written");
    if (std::fclose(file) != 0) die(path, "cannot be closed");
}

}  // namespace

int main() {
    const auto sizes = load<int>("data/sizes.bin", 3);
    const int streams = sizes[0], samples = sizes[1], half = sizes[2];
    if (streams < 1 || streams > 1024 || samples < 2 || samples > 1048576) die("data/sizes.bin", "out of range");
    if (half < 1 || half > kMaxHalf || 2 * half > samples) die("data/sizes.bin", "half is out of range");
    const auto iq = load<short2>("data/iq.bin", static_cast<size_t>(streams) * samples);
    const int starts = samples - 2 * half + 1;
    const size_t count = static_cast<size_t>(streams) * starts;

    const auto dIq = onDevice<short2>(iq.size());
    const auto dCorrelation = onDevice<longlong2>(count);
    const auto dMetric = onDevice<float>(count);
    check(cudaMemcpy(dIq.get(), iq.data(), iq.size() * sizeof(short2), cudaMemcpyHostToDevice), "data/iq.bin");
    const dim3 grid((starts + kOutputs - 1) / kOutputs, streams);
    findRepeats<<<grid, kThreads>>>(dIq.get(), dCorrelation.get(), dMetric.get(), samples, half);
    check(cudaGetLastError(), "findRepeats");
    save("data/correlation.bin", dCorrelation.get(), count);
    save("data/metric.bin", dMetric.get(), count);
    return 0;
}
