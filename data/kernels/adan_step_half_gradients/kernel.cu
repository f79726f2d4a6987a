#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

constexpr int kThreads = 256;
constexpr int kChunk = 1 << 18;  // even, so that every chunk starts on a pair

struct Hyper {
    float rate, b1, b2, b3, tiny, decay;
};

__device__ void adan(float g, float last, float& w, float& m, float& v, float& n, const Hyper& h) {
    const float change = g - last;
    m += h.b1 * (g - m);
    v += h.b2 * (change - v);
    const float ahead = g + (1.0f - h.b2) * change;
    n += h.b3 * (ahead * ahead - n);
    const float step = h.rate / (sqrtf(n) + h.tiny) * (m + (1.0f - h.b2) * v);
    w = (w - step) / (1.0f + h.decay * h.rate);
}

// One thread a pair of weights; the last weight of an odd chunk is done alone.
__global__ void adanStep(const half2* __restrict__ grad, const half2* __restrict__ last, float2* w, float2* m,
                         float2* v, float2* n, int count, Hyper h) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (2 * i + 1 < count) {
        const float2 g = __half22float2(grad[i]), l = __half22float2(last[i]);
        float2 a = w[i], b = m[i], c = v[i], d = n[i];
        adan(g.x, l.x, a.x, b.x, c.x, d.x, h);
        adan(g.y, l.y, a.y, b.y, c.y, d.y, h);
        w[i] = a;
        m[i] = b;
        v[i] = c;
        n[i] = d;
    } else if (2 * i < count) {
        const float g = __half2float(reinterpret_cast<const half*>(grad)[2 * i]);
        const float l = __half2float(reinterpret_cast<const half*>(last)[2 * i]);
        adan(g, l, w[i].x, m[i].x, v[i].x, n[i].x, h);
    }
}

static void fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) fail(cudaGetErrorString(status));
}

// A file in pinned memory.
template <typename T>
static T* readPinned(const char* path, size_t count) {
    T* values = nullptr;
    check(cudaMallocHost(&values, count * sizeof(T)));
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values, sizeof(T), count, file) != count || std::fgetc(file) != EOF) fail(path);
    std::fclose(file);
    return values;
}

static void writeFile(const char* path, const float* values, size_t count) {
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values, sizeof(float), count, file) != count || std::fclose(file) != 0) fail(path);
}

// A stream with device buffers for one chunk: weights and the three states, and both gradients.
struct Lane {
    cudaStream_t stream;
    float* values[4];
    half* grads[2];
};

int main() {
    int32_t* sizes = readPinned<int32_t>("data/sizes.bin", 1);
    const int count = sizes[0];
    if (count < 1 || count > 8000000) fail("data/sizes.bin: out of range");
    Hyper* hyper = readPinned<Hyper>("data/hyper.bin", 1);
    half* grads[2] = {readPinned<half>("data/grad.bin", count), readPinned<half>("data/last_grad.bin", count)};
    float* weights = readPinned<float>("data/weights.bin", count);
    float* state = readPinned<float>("data/state.bin", 3 * static_cast<size_t>(count));
    float* host[4] = {weights, state, state + count, state + 2 * static_cast<size_t>(count)};

    Lane lanes[2];
    for (Lane& lane : lanes) {
        check(cudaStreamCreate(&lane.stream));
        for (float*& buffer : lane.values) check(cudaMalloc(&buffer, kChunk * sizeof(float)));
        for (half*& buffer : lane.grads) check(cudaMalloc(&buffer, kChunk * sizeof(half)));
    }
    int turn = 0;
    for (int first = 0; first < count; first += kChunk, ++turn) {
        const Lane& lane = lanes[turn % 2];  // work of one stream is in order, so its buffers are free again
        const int n = std::min(kChunk, count - first);
        for (int k = 0; k < 4; ++k) {
            check(cudaMemcpyAsync(lane.values[k], host[k] + first, n * sizeof(float), cudaMemcpyHostToDevice,
                                  lane.stream));
        }
        for (int k = 0; k < 2; ++k) {
            check(cudaMemcpyAsync(lane.grads[k], grads[k] + first, n * sizeof(half), cudaMemcpyHostToDevice,
                                  lane.stream));
        }
        const int pairs = (n + 1) / 2;
        adanStep<<<(pairs + kThreads - 1) / kThreads, kThreads, 0, lane.stream>>>(
            reinterpret_cast<const half2*>(lane.grads[0]), reinterpret_cast<const half2*>(lane.grads[1]),
            reinterpret_cast<float2*>(lane.values[0]), reinterpret_cast<float2*>(lane.values[1]),
            reinterpret_cast<float2*>(lane.values[2]), reinterpret_cast<float2*>(lane.values[3]), n, *hyper);
        check(cudaGetLastError());
        for (int k = 0; k < 4; ++k) {
            check(cudaMemcpyAsync(host[k] + first, lane.values[k], n * sizeof(float), cudaMemcpyDeviceToHost,
                                  lane.stream));
        }
    }
    for (Lane& lane : lanes) {
        check(cudaStreamSynchronize(lane.stream));
        check(cudaStreamDestroy(lane.stream));
        for (float* buffer : lane.values) check(cudaFree(buffer));
        for (half* buffer : lane.grads) check(cudaFree(buffer));
    }
    writeFile("data/new_weights.bin", weights, count);
    writeFile("data/new_state.bin", state, 3 * static_cast<size_t>(count));
    for (void* pinned : {(void*)sizes, (void*)hyper, (void*)grads[0], (void*)grads[1], (void*)weights, (void*)state}) {
        check(cudaFreeHost(pinned));
    }
    return 0;
}
