#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t count) {
    std::vector<T> data(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T));
    if (!in) throw std::runtime_error("bad input file " + path);
    return data;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kClips = 8;
constexpr int kFrames = 20;
constexpr int WARPS = 8;

// One block per clip: each warp reduces a frame, and the clip's mean needs no second kernel.
__global__ void clip_snr(const float4* __restrict__ clean, const float4* __restrict__ degraded,
                         float* __restrict__ snr, float* __restrict__ mean_snr) {
    __shared__ float part[WARPS];
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    float total = 0.0f;
    for (int f = warp; f < kFrames; f += WARPS) {
        const int frame = blockIdx.x * kFrames + f;
        float s = 0.0f, n = 0.0f;
        for (int i = lane; i < 40; i += 32) {
            const float4 a = clean[frame * 40 + i];
            const float4 b = degraded[frame * 40 + i];
            const float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z, dw = a.w - b.w;
            s += a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w;
            n += dx * dx + dy * dy + dz * dz + dw * dw;
        }
        for (int k = 16; k > 0; k >>= 1) {
            s += __shfl_xor_sync(0xffffffffu, s, k);
            n += __shfl_xor_sync(0xffffffffu, n, k);
        }
        const float db = 10.0f * log10f((s + 1e-6f) / (n + 1e-6f));
        const float limited = fminf(fmaxf(db, -10.0f), 35.0f);
        total += limited;
        if (lane == 0) snr[frame] = limited;
    }
    if (lane == 0) part[warp] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int w = 0; w < WARPS; ++w) sum += part[w];
        mean_snr[blockIdx.x] = sum / kFrames;
    }
}

int main() {
    constexpr size_t num_clean = kClips * kFrames * 160;
    constexpr size_t num_snr = kClips * kFrames;
    auto host_clean = from_file<float>("data/clean.bin", num_clean);
    auto host_degraded = from_file<float>("data/degraded.bin", num_clean);
    std::vector<float> host_snr(num_snr);
    std::vector<float> host_mean_snr(kClips);

    float* dev_clean = nullptr;
    float* dev_degraded = nullptr;
    float* dev_snr = nullptr;
    float* dev_mean_snr = nullptr;
    cudaMalloc(&dev_clean, host_clean.size() * sizeof(float));
    cudaMalloc(&dev_degraded, host_degraded.size() * sizeof(float));
    cudaMalloc(&dev_snr, host_snr.size() * sizeof(float));
    cudaMalloc(&dev_mean_snr, host_mean_snr.size() * sizeof(float));
    cudaMemcpy(dev_clean, host_clean.data(), host_clean.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_degraded, host_degraded.data(), host_degraded.size() * sizeof(float), cudaMemcpyHostToDevice);

    clip_snr<<<kClips, WARPS * 32>>>((const float4*)dev_clean, (const float4*)dev_degraded, dev_snr, dev_mean_snr);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;

    cudaMemcpy(host_snr.data(), dev_snr, host_snr.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_mean_snr.data(), dev_mean_snr, host_mean_snr.size() * sizeof(float), cudaMemcpyDeviceToHost);
    to_file("data/snr.bin", host_snr);
    to_file("data/mean_snr.bin", host_mean_snr);
    cudaFree(dev_clean);
    cudaFree(dev_degraded);
    cudaFree(dev_snr);
    cudaFree(dev_mean_snr);
}
