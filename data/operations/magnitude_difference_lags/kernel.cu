#include <cfloat>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define FRAMES 60

constexpr int THREADS = 224;

// One block per frame, one thread per lag; the frame is read once into shared memory.
__global__ void pitch_frame(const float* __restrict__ x, float* __restrict__ amdf, int* __restrict__ best) {
    __shared__ float frame[512];
    __shared__ float low[THREADS / 32];
    __shared__ int low_lag[THREADS / 32];
    const int t = threadIdx.x;
    for (int i = t; i < 512; i += THREADS) frame[i] = x[blockIdx.x * 512 + i];
    __syncthreads();
    float value = FLT_MAX;
    int lag = t + 20;
    if (t < 200) {
        float sum = 0.0f;
        for (int i = 0; i < 256; ++i) sum += fabsf(frame[i] - frame[i + lag]);
        value = sum * (1.0f / 256.0f);
        amdf[blockIdx.x * 200 + t] = value;
    }
    for (int s = 16; s > 0; s /= 2) {
        float v = __shfl_down_sync(0xffffffffu, value, s);
        int l = __shfl_down_sync(0xffffffffu, lag, s);
        if (v < value || (v == value && l < lag)) {
            value = v;
            lag = l;
        }
    }
    if (t % 32 == 0) {
        low[t / 32] = value;
        low_lag[t / 32] = lag;
    }
    __syncthreads();
    if (t == 0) {
        int w = 0;
        for (int k = 1; k < THREADS / 32; ++k) {
            if (low[k] < low[w]) w = k;
        }
        best[blockIdx.x] = low_lag[w];
    }
}

int main() {
    std::vector<float> x(FRAMES * 512);
    std::vector<float> amdf(FRAMES * 200);
    std::vector<int> best(FRAMES);
    std::ifstream file_x("data/x.bin", std::ios::binary);
    if (!file_x.read((char*)x.data(), FRAMES * 512 * sizeof(float))) return 1;
    float *d_x, *d_amdf;
    int *d_best;
    cudaMalloc(&d_x, FRAMES * 512 * sizeof(float));
    cudaMalloc(&d_amdf, FRAMES * 200 * sizeof(float));
    cudaMalloc(&d_best, FRAMES * sizeof(int));
    cudaMemcpy(d_x, x.data(), FRAMES * 512 * sizeof(float), cudaMemcpyHostToDevice);
    pitch_frame<<<FRAMES, THREADS>>>(d_x, d_amdf, d_best);
    cudaMemcpy(amdf.data(), d_amdf, FRAMES * 200 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(best.data(), d_best, FRAMES * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/amdf.bin", std::ios::binary).write((char*)amdf.data(), FRAMES * 200 * sizeof(float));
    std::ofstream("data/best.bin", std::ios::binary).write((char*)best.data(), FRAMES * sizeof(int));
    cudaFree(d_x);
    cudaFree(d_amdf);
    cudaFree(d_best);
    return 0;
}
