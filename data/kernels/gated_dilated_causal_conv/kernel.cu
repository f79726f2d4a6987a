#include <cuda_runtime.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kThreads = 128;
constexpr int kGroup = 4;  // output channels per thread
constexpr int kTaps = 3;
constexpr int kGates = 2;  // filter and gate

struct Sizes {
    int batch, channels, length, dilation;
};

__device__ __forceinline__ void multiplyAdd(float (&sum)[kGroup], float4 weight, float value) {
    sum[0] = fmaf(weight.x, value, sum[0]);
    sum[1] = fmaf(weight.y, value, sum[1]);
    sum[2] = fmaf(weight.z, value, sum[2]);
    sum[3] = fmaf(weight.w, value, sum[3]);
}

__global__ void gatedConv(const float* __restrict__ signal, const float* __restrict__ weights,
                          const float* __restrict__ bias, float* __restrict__ gated, Sizes s) {
    extern __shared__ float4 groupWeights[];  // [channel][tap][gate], four output channels in each
    const int o0 = blockIdx.y * kGroup;
    float* flat = reinterpret_cast<float*>(groupWeights);
    for (int e = threadIdx.x; e < s.channels * kTaps * kGates * kGroup; e += kThreads) {
        const int o = o0 + e % kGroup, gate = e / kGroup % kGates;
        const int tap = e / (kGroup * kGates) % kTaps, c = e / (kGroup * kGates * kTaps);
        flat[e] = o < s.channels ? weights[((gate * s.channels + o) * s.channels + c) * kTaps + tap] : 0.0f;
    }
    __syncthreads();

    const int t = blockIdx.x * kThreads + threadIdx.x;
    if (t >= s.length) return;
    const size_t item = static_cast<size_t>(blockIdx.z) * s.channels * s.length;

    float filter[kGroup] = {}, gate[kGroup] = {};
    for (int c = 0; c < s.channels; ++c) {
        const float* row = signal + item + static_cast<size_t>(c) * s.length;
#pragma unroll
        for (int tap = 0; tap < kTaps; ++tap) {
            const int source = t - (kTaps - 1 - tap) * s.dilation;
            const float value = source >= 0 ? row[source] : 0.0f;
            multiplyAdd(filter, groupWeights[(c * kTaps + tap) * kGates], value);
            multiplyAdd(gate, groupWeights[(c * kTaps + tap) * kGates + 1], value);
        }
    }
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
        const int o = o0 + i;
        if (o < s.channels) {
            const float f = filter[i] + bias[o], g = gate[i] + bias[s.channels + o];
            gated[item + static_cast<size_t>(o) * s.length + t] = tanhf(f) / (1.0f + expf(-g));
        }
    }
}

static void fail(const char* where, const char* what) {
    std::cerr << where << ": " << what << '\n';
    std::exit(EXIT_FAILURE);
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) fail(step, cudaGetErrorString(status));
}

static void readBytes(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) fail(path, "missing, or not of the expected length");
    in.seekg(0);
    if (!in.read(static_cast<char*>(target), bytes)) fail(path, "read error");
}

static void writeBytes(const char* path, const void* source, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(source), bytes);
    out.close();
    if (!out) fail(path, "write error");
}

static float* upload(const char* path, size_t count) {
    std::vector<float> host(count);
    readBytes(path, host.data(), count * sizeof(float));
    float* device = nullptr;
    check(cudaMalloc(&device, count * sizeof(float)), "cudaMalloc");
    check(cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice), path);
    return device;
}

int main() {
    Sizes s;
    readBytes("data/sizes.bin", &s, sizeof(s));
    if (s.batch < 1 || s.batch > 16 || s.channels < 1 || s.channels > 64 || s.length < 1 || s.length > 65536 ||
        s.dilation < 1 || s.dilation > 512) {
        fail("data/sizes.bin", "a size is out of range");
    }
    const size_t count = static_cast<size_t>(s.batch) * s.channels * s.length;
    float* signal = upload("data/signal.bin", count);
    float* weights = upload("data/weights.bin", kGates * s.channels * s.channels * kTaps);
    float* bias = upload("data/bias.bin", kGates * s.channels);
    float* gated = nullptr;
    check(cudaMalloc(&gated, count * sizeof(float)), "cudaMalloc");

    const dim3 grid((s.length + kThreads - 1) / kThreads, (s.channels + kGroup - 1) / kGroup, s.batch);
    const size_t sharedBytes = s.channels * kTaps * kGates * sizeof(float4);
    gatedConv<<<grid, kThreads, sharedBytes>>>(signal, weights, bias, gated, s);
    check(cudaGetLastError(), "launch");

    std::vector<float> host(count);
    check(cudaMemcpy(host.data(), gated, count * sizeof(float), cudaMemcpyDeviceToHost), "copy to the host");
    for (float* pointer : {signal, weights, bias, gated}) check(cudaFree(pointer), "cudaFree");
    writeBytes("data/gated.bin", host.data(), count * sizeof(float));
    return EXIT_SUCCESS;
}
