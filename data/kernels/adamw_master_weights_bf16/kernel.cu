#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Step {
    float rate, decay, beta1, gain1, beta2, gain2, epsilon;
    float correction1, correction2;  // 1 / (1 - beta^t)
};

__device__ void update(float& w, float g, float& m, float& v, const Step& s) {
    m = fmaf(s.beta1, m, s.gain1 * g);
    v = fmaf(s.beta2, v, s.gain2 * g * g);
    const float direction = m * s.correction1 / (sqrtf(v * s.correction2) + s.epsilon);
    w = w - s.rate * fmaf(s.decay, w, direction);
}

__device__ unsigned short bits(float w) { return __bfloat16_as_ushort(__float2bfloat16_rn(w)); }

__global__ void adamw(float* w, const float* __restrict__ g, float* m, float* v, uint16_t* copy, int count, Step s) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    const int quads = count / 4;
    for (int i = first; i < quads; i += gridDim.x * blockDim.x) {
        float4 w4 = reinterpret_cast<float4*>(w)[i], m4 = reinterpret_cast<float4*>(m)[i];
        float4 v4 = reinterpret_cast<float4*>(v)[i];
        const float4 g4 = reinterpret_cast<const float4*>(g)[i];
        update(w4.x, g4.x, m4.x, v4.x, s);
        update(w4.y, g4.y, m4.y, v4.y, s);
        update(w4.z, g4.z, m4.z, v4.z, s);
        update(w4.w, g4.w, m4.w, v4.w, s);
        reinterpret_cast<float4*>(w)[i] = w4;
        reinterpret_cast<float4*>(m)[i] = m4;
        reinterpret_cast<float4*>(v)[i] = v4;
        reinterpret_cast<ushort4*>(copy)[i] = make_ushort4(bits(w4.x), bits(w4.y), bits(w4.z), bits(w4.w));
    }
    const int tail = 4 * quads + first;
    if (tail < count) {
        update(w[tail], g[tail], m[tail], v[tail], s);
        copy[tail] = bits(w[tail]);
    }
}

static void stop(const char* text) {
    std::fprintf(stderr, "%s\n", text);
    std::exit(1);
}

static void cu(cudaError_t status) {
    if (status != cudaSuccess) stop(cudaGetErrorString(status));
}

static std::vector<char> slurp(const char* path, size_t bytes) {
    std::vector<char> data(bytes);
    FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(data.data(), 1, bytes, file) != bytes || std::fgetc(file) != EOF) stop(path);
    std::fclose(file);
    return data;
}

static float* load(const char* path, int count) {
    const std::vector<char> host = slurp(path, count * sizeof(float));
    float* device;
    cu(cudaMalloc(&device, host.size()));
    cu(cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice));
    return device;
}

static void save(const char* path, void* device, size_t bytes) {
    std::vector<char> host(bytes);
    cu(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
    cu(cudaFree(device));
    FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(host.data(), 1, bytes, file) != bytes || std::fclose(file) != 0) stop(path);
}

int main() {
    const std::vector<char> raw = slurp("data/sizes.bin", 2 * sizeof(int32_t));
    const int count = reinterpret_cast<const int32_t*>(raw.data())[0];
    const int t = reinterpret_cast<const int32_t*>(raw.data())[1];
    if (count < 4 || count > 16000000 || t < 1 || t > 1000000) stop("data/sizes.bin: out of range");
    float* w = load("data/weights.bin", count);
    float* g = load("data/grad.bin", count);
    float* m = load("data/moment1.bin", count);
    float* v = load("data/moment2.bin", count);
    uint16_t* copy;
    cu(cudaMalloc(&copy, count * sizeof(uint16_t)));

    Step s{1.0f / 1024, 0.0625f, 0.9f, 0.1f, 0.99f, 0.01f, 1.0f / 65536, 0.0f, 0.0f};
    s.correction1 = static_cast<float>(1.0 / (1.0 - std::pow(0.9, t)));
    s.correction2 = static_cast<float>(1.0 / (1.0 - std::pow(0.99, t)));
    adamw<<<std::min(2048, (count / 4 + 255) / 256), 256>>>(w, g, m, v, copy, count, s);
    cu(cudaGetLastError());

    const size_t bytes = count * sizeof(float);
    cu(cudaFree(g));
    save("data/new_weights.bin", w, bytes);
    save("data/new_moment1.bin", m, bytes);
    save("data/new_moment2.bin", v, bytes);
    save("data/weights_bf16.bin", copy, count * sizeof(uint16_t));
    return 0;
}
