#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void read_binary(const std::string& path, T* buffer, size_t n) {
    FILE* f = fopen(path.c_str(), "rb");
    if (!f || fread(buffer, sizeof(T), n, f) != n) {
        fprintf(stderr, "failed to read %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

template <typename T>
void write_binary(const std::string& path, const T* buffer, size_t n) {
    FILE* f = fopen(path.c_str(), "wb");
    if (!f || fwrite(buffer, sizeof(T), n, f) != n) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int kFrames = 90;
constexpr int kBins = 200;

const int WARPS = 8;
const unsigned ALL = 0xffffffffu;

// A warp per frame: first the total, then 32 bins at a time with a scan over the lanes and a vote.
__global__ void rolloff_warps(const int* __restrict__ power, int* __restrict__ rolloff,
        long long* __restrict__ total) {
    const int f = blockIdx.x * WARPS + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (f >= kFrames) return;
    const int* p = power + (size_t)f * kBins;
    long long sum = 0;
    for (int b = lane; b < kBins; b += 32) sum += p[b];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(ALL, sum, s);
    long long before = 0;
    for (int start = 0; start < kBins; start += 32) {
        long long part = start + lane < kBins ? p[start + lane] : 0;
        for (int s = 1; s < 32; s *= 2) {
            long long left = __shfl_up_sync(ALL, part, s);
            if (lane >= s) part += left;
        }
        part += before;
        unsigned hit = __ballot_sync(ALL, 20 * part >= 17 * sum);
        if (hit) {
            if (lane == 0) {
                rolloff[f] = start + __ffs(hit) - 1;
                total[f] = sum;
            }
            break;
        }
        before = __shfl_sync(ALL, part, 31);
    }
}

int main() {
    size_t num_power = kFrames * kBins;
    int* h_power = new int[num_power];
    int* h_rolloff = new int[kFrames];
    long long* h_total = new long long[kFrames];
    read_binary("data/power.bin", h_power, num_power);

    int* d_power;
    int* d_rolloff;
    long long* d_total;
    cudaMalloc(&d_power, sizeof(int) * num_power);
    cudaMalloc((void**)&d_rolloff, sizeof(int) * kFrames);
    cudaMalloc(&d_total, sizeof(long long) * kFrames);
    cudaMemcpy(d_power, h_power, sizeof(int) * num_power, cudaMemcpyHostToDevice);

    rolloff_warps<<<(kFrames + WARPS - 1) / WARPS, WARPS * 32>>>(d_power, d_rolloff, d_total);
    cudaDeviceSynchronize();

    cudaMemcpy(h_rolloff, d_rolloff, sizeof(int) * kFrames, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_total, d_total, sizeof(long long) * kFrames, cudaMemcpyDeviceToHost);
    write_binary("data/rolloff.bin", h_rolloff, kFrames);
    write_binary("data/total.bin", h_total, kFrames);

    cudaFree(d_power);
    cudaFree(d_rolloff);
    cudaFree(d_total);
    delete[] h_power;
    delete[] h_rolloff;
    delete[] h_total;
    return 0;
}
