#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 256;

// exp(l) - 1 - l without cancellation.
__device__ float excess(float l) {
    if (fabsf(l) >= 0.25f) return expm1f(l) - l;
    return l * l * (0.5f + l * (1.0f / 6 + l * (1.0f / 24 + l * (1.0f / 120 + l * (1.0f / 720)))));
}

// Returns the component's divergence and writes both derivatives.
__device__ float component(float meanQ, float logVarQ, float meanP, float logVarP, float& meanGrad,
                           float& logVarGrad) {
    const float d = meanQ - meanP, l = logVarQ - logVarP, inverse = expf(-logVarP);
    meanGrad = d * inverse;
    logVarGrad = 0.5f * expm1f(l);
    return 0.5f * (d * d * inverse + excess(l));
}

__global__ void divergences(const float4* __restrict__ meanQ, const float4* __restrict__ logVarQ,
                            const float4* __restrict__ meanP, const float4* __restrict__ logVarP,
                            float* __restrict__ divergence, float4* __restrict__ meanGrad,
                            float4* __restrict__ logVarGrad, int rows, int quads) {
    const int row = (blockIdx.x * kThreads + threadIdx.x) / 32;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int c = threadIdx.x % 32; c < quads; c += 32) {
        const size_t at = static_cast<size_t>(row) * quads + c;
        const float4 mq = meanQ[at], lq = logVarQ[at], mp = meanP[at], lp = logVarP[at];
        float4 mg, lg;
        sum += component(mq.x, lq.x, mp.x, lp.x, mg.x, lg.x);
        sum += component(mq.y, lq.y, mp.y, lp.y, mg.y, lg.y);
        sum += component(mq.z, lq.z, mp.z, lp.z, mg.z, lg.z);
        sum += component(mq.w, lq.w, mp.w, lp.w, mg.w, lg.w);
        meanGrad[at] = mg;
        logVarGrad[at] = lg;
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) divergence[row] = sum;
}

static void stop(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(EXIT_FAILURE);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) stop(cudaGetErrorString(status));
}

static void readFile(const char* path, void* data, size_t bytes) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(data, 1, bytes, file) != bytes || std::fgetc(file) != EOF) stop(path);
    std::fclose(file);
}

static float4* loadMatrix(const char* path, size_t cells) {
    std::vector<float> host(cells);
    readFile(path, host.data(), cells * sizeof(float));
    float4* device;
    check(cudaMalloc(&device, cells * sizeof(float)));
    check(cudaMemcpy(device, host.data(), cells * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

static void saveFloats(const char* path, const void* device, size_t count) {
    std::vector<float> host(count);
    check(cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(host.data(), sizeof(float), count, file) != count || std::fclose(file) != 0) stop(path);
}

int main() {
    int32_t sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int rows = sizes[0], quads = sizes[1];
    if (rows < 1 || rows > 1000000 || quads < 1 || quads > 256) stop("data/sizes.bin: out of range");
    const size_t cells = static_cast<size_t>(rows) * quads * 4;
    float4 *meanQ = loadMatrix("data/mean_q.bin", cells), *logVarQ = loadMatrix("data/log_var_q.bin", cells);
    float4 *meanP = loadMatrix("data/mean_p.bin", cells), *logVarP = loadMatrix("data/log_var_p.bin", cells);
    float4 *meanGrad, *logVarGrad;
    float* divergence;
    check(cudaMalloc(&meanGrad, cells * sizeof(float)));
    check(cudaMalloc(&logVarGrad, cells * sizeof(float)));
    check(cudaMalloc(&divergence, rows * sizeof(float)));

    const int perBlock = kThreads / 32;
    divergences<<<(rows + perBlock - 1) / perBlock, kThreads>>>(meanQ, logVarQ, meanP, logVarP, divergence, meanGrad,
                                                                logVarGrad, rows, quads);
    check(cudaGetLastError());
    saveFloats("data/divergence.bin", divergence, rows);
    saveFloats("data/mean_grad.bin", meanGrad, cells);
    saveFloats("data/log_var_grad.bin", logVarGrad, cells);
    for (float4* p : {meanQ, logVarQ, meanP, logVarP, meanGrad, logVarGrad}) check(cudaFree(p));
    check(cudaFree(divergence));
    return EXIT_SUCCESS;
}
