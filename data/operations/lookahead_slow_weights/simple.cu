#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

void read_bytes(const std::string& path, void* mem, size_t size) {
    std::ifstream in(path, std::ios::binary);
    in.read(static_cast<char*>(mem), size);
    if (!in) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void write_bytes(const std::string& path, const void* mem, size_t size) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(mem), size);
}
//@given

#define GROUPS 20
#define WIDTH 600
#define NUM_ELEMENTS (GROUPS * WIDTH)

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

__global__ void lookahead(const float* fast, const float* slow, const int* counter, const int* period,
                          float* fast_out, float* slow_out, int* counter_out) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int g = blockIdx.y;
    if (k >= WIDTH) return;
    int count = counter[g] + 1;
    bool sync = count == period[g];
    size_t i = (size_t)g * WIDTH + k;
    if (sync) {
        float s = slow[i] + 0.5f * (fast[i] - slow[i]);
        slow_out[i] = s;
        fast_out[i] = s;
    } else {
        slow_out[i] = slow[i];
        fast_out[i] = fast[i];
    }
    if (k == 0) counter_out[g] = sync ? 0 : count;
}

int main() {
    const size_t fast_bytes = NUM_ELEMENTS * sizeof(float);
    const size_t counter_bytes = GROUPS * sizeof(int);
    std::vector<float> hFast(NUM_ELEMENTS);
    std::vector<float> hSlow(NUM_ELEMENTS);
    std::vector<int> hCounter(GROUPS);
    std::vector<int> hPeriod(GROUPS);
    std::vector<float> h_fast_out(NUM_ELEMENTS);
    std::vector<float> h_slow_out(NUM_ELEMENTS);
    std::vector<int> h_counter_out(GROUPS);
    read_bytes("data/fast.bin", hFast.data(), fast_bytes);
    read_bytes("data/slow.bin", hSlow.data(), fast_bytes);
    read_bytes("data/counter.bin", hCounter.data(), counter_bytes);
    read_bytes("data/period.bin", hPeriod.data(), counter_bytes);

    float* d_fast;
    float* d_slow;
    int* d_counter;
    int* d_period;
    float* d_fast_out;
    float* d_slow_out;
    int* d_counter_out;
    cudaMalloc(&d_fast, fast_bytes);
    cudaMalloc(&d_slow, fast_bytes);
    cudaMalloc(&d_counter, counter_bytes);
    cudaMalloc(&d_period, counter_bytes);
    cudaMalloc(&d_fast_out, fast_bytes);
    cudaMalloc(&d_slow_out, fast_bytes);
    cudaMalloc(&d_counter_out, counter_bytes);
    cudaMemcpy(d_fast, hFast.data(), fast_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_slow, hSlow.data(), fast_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_counter, hCounter.data(), counter_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_period, hPeriod.data(), counter_bytes, cudaMemcpyHostToDevice);

    lookahead<<<dim3(DIV_UP(WIDTH, 256), GROUPS), 256>>>(d_fast, d_slow, d_counter, d_period,
                                                        d_fast_out, d_slow_out, d_counter_out);

    cudaMemcpy(h_fast_out.data(), d_fast_out, fast_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_slow_out.data(), d_slow_out, fast_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_counter_out.data(), d_counter_out, counter_bytes, cudaMemcpyDeviceToHost);
    write_bytes("data/fast_out.bin", h_fast_out.data(), fast_bytes);
    write_bytes("data/slow_out.bin", h_slow_out.data(), fast_bytes);
    write_bytes("data/counter_out.bin", h_counter_out.data(), counter_bytes);

    cudaFree(d_fast);
    cudaFree(d_slow);
    cudaFree(d_counter);
    cudaFree(d_period);
    cudaFree(d_fast_out);
    cudaFree(d_slow_out);
    cudaFree(d_counter_out);
    return 0;
}
