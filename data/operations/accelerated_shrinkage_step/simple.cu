#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

void load_raw(const std::string& path, void* dst, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    in.read(static_cast<char*>(dst), bytes);
    if (!in) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void save_raw(const std::string& path, const void* dst, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(dst), bytes);
}
//@given

static const int N = 15000;

static int div_up(int a, int b) { return (a + b - 1) / b; }

__global__ void fista_step(const float* point, const float* last, const float* grad, const float* penalty,
                           const float* clock, float* next_point, float* lookahead, float* clock_out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float t = clock[0];
    float t2 = 0.5f * (1.0f + sqrtf(1.0f + 4.0f * t * t));
    float v = point[i] - 0.1f * grad[i];
    float size = fabsf(v) - 0.1f * penalty[i];
    float x = size > 0.0f ? copysignf(size, v) : 0.0f;
    next_point[i] = x;
    lookahead[i] = x + (t - 1.0f) / t2 * (x - last[i]);
    if (i == 0) clock_out[0] = t2;
}

int main() {
    const size_t point_bytes = N * sizeof(float);
    const size_t clock_bytes = sizeof(float);
    std::vector<float> hPoint(N);
    std::vector<float> hLast(N);
    std::vector<float> hGrad(N);
    std::vector<float> hPenalty(N);
    std::vector<float> hClock(1);
    std::vector<float> h_next_point(N);
    std::vector<float> hLookahead(N);
    std::vector<float> h_clock_out(1);
    load_raw("data/point.bin", hPoint.data(), point_bytes);
    load_raw("data/last.bin", hLast.data(), point_bytes);
    load_raw("data/grad.bin", hGrad.data(), point_bytes);
    load_raw("data/penalty.bin", hPenalty.data(), point_bytes);
    load_raw("data/clock.bin", hClock.data(), clock_bytes);

    float* dev_point = nullptr;
    float* dev_last = nullptr;
    float* dev_grad = nullptr;
    float* dev_penalty = nullptr;
    float* dev_clock = nullptr;
    float* dev_next_point = nullptr;
    float* dev_lookahead = nullptr;
    float* dev_clock_out = nullptr;
    cudaMalloc(&dev_point, point_bytes);
    cudaMalloc(&dev_last, point_bytes);
    cudaMalloc(&dev_grad, point_bytes);
    cudaMalloc(&dev_penalty, point_bytes);
    cudaMalloc(&dev_clock, clock_bytes);
    cudaMalloc(&dev_next_point, point_bytes);
    cudaMalloc(&dev_lookahead, point_bytes);
    cudaMalloc(&dev_clock_out, clock_bytes);
    cudaMemcpy(dev_point, hPoint.data(), point_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(dev_last, hLast.data(), point_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(dev_grad, hGrad.data(), point_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(dev_penalty, hPenalty.data(), point_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(dev_clock, hClock.data(), clock_bytes, cudaMemcpyHostToDevice);

    fista_step<<<div_up(N, 256), 256>>>(dev_point, dev_last, dev_grad, dev_penalty, dev_clock, dev_next_point,
            dev_lookahead, dev_clock_out, N);

    cudaMemcpy(h_next_point.data(), dev_next_point, point_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(hLookahead.data(), dev_lookahead, point_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_clock_out.data(), dev_clock_out, clock_bytes, cudaMemcpyDeviceToHost);
    save_raw("data/next_point.bin", h_next_point.data(), point_bytes);
    save_raw("data/lookahead.bin", hLookahead.data(), point_bytes);
    save_raw("data/clock_out.bin", h_clock_out.data(), clock_bytes);

    cudaFree(dev_point);
    cudaFree(dev_last);
    cudaFree(dev_grad);
    cudaFree(dev_penalty);
    cudaFree(dev_clock);
    cudaFree(dev_next_point);
    cudaFree(dev_lookahead);
    cudaFree(dev_clock_out);
    return 0;
}
