#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

constexpr int BATCH = 6;
constexpr int STEPS = 30;
constexpr int WIDTH = 40;

template <typename T>
struct DeviceBuffer {
    T* p = nullptr;
    size_t count;
    explicit DeviceBuffer(size_t n) : count(n) {
        if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) {
            std::cerr << "cudaMalloc failed" << std::endl;
            std::exit(1);
        }
    }
    ~DeviceBuffer() { cudaFree(p); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    void from_host(const std::vector<T>& v) {
        cudaMemcpy(p, v.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    }
    void to_host(std::vector<T>& v) const {
        cudaMemcpy(v.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

template <typename T>
std::vector<T> read_input(const std::string& path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T));
    if (!in) {
        std::cerr << "cannot read " + path << std::endl;
        std::exit(1);
    }
    return v;
}

__global__ void attention_weights(const float* keys, const float* query, const float* v, const int* lengths,
                                  float* attention) {
    __shared__ float score[STEPS];
    int b = blockIdx.x;
    int n = lengths[b];
    for (int t = threadIdx.x; t < n; t += blockDim.x) {
        float s = 0.0f;
        for (int j = 0; j < WIDTH; j++) {
            s += v[j] * tanhf(query[b * WIDTH + j] + keys[(b * STEPS + t) * WIDTH + j]);
        }
        score[t] = s;
    }
    __syncthreads();
    float top = score[0];
    for (int t = 1; t < n; t++) top = fmaxf(top, score[t]);
    float total = 0.0f;
    for (int t = 0; t < n; t++) total += expf(score[t] - top);
    for (int t = threadIdx.x; t < STEPS; t += blockDim.x) {
        attention[b * STEPS + t] = t < n ? expf(score[t] - top) / total : 0.0f;
    }
}

__global__ void weighted_sum(const float* keys, const float* attention, float* context) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BATCH * WIDTH) return;
    int b = i / WIDTH;
    float sum = 0.0f;
    for (int t = 0; t < STEPS; t++) {
        sum += attention[b * STEPS + t] * keys[(b * STEPS + t) * WIDTH + i % WIDTH];
    }
    context[i] = sum;
}

int main() {
    std::vector<float> keys = read_input<float>("data/keys.bin", BATCH * STEPS * WIDTH);
    std::vector<float> query = read_input<float>("data/query.bin", BATCH * WIDTH);
    std::vector<float> v = read_input<float>("data/v.bin", WIDTH);
    std::vector<int> lengths = read_input<int>("data/lengths.bin", BATCH);
    std::vector<float> context(BATCH * WIDTH);
    std::vector<float> attention(BATCH * STEPS);

    DeviceBuffer<float> d_keys(BATCH * STEPS * WIDTH);
    DeviceBuffer<float> d_query(BATCH * WIDTH);
    DeviceBuffer<float> d_v(WIDTH);
    DeviceBuffer<int> d_lengths(BATCH);
    DeviceBuffer<float> d_context(BATCH * WIDTH);
    DeviceBuffer<float> d_attention(BATCH * STEPS);
    d_keys.from_host(keys);
    d_query.from_host(query);
    d_v.from_host(v);
    d_lengths.from_host(lengths);

    attention_weights<<<BATCH, 128>>>(d_keys.p, d_query.p, d_v.p, d_lengths.p, d_attention.p);
    weighted_sum<<<(BATCH * WIDTH + 127) / 128, 128>>>(d_keys.p, d_attention.p, d_context.p);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed" << std::endl;
        std::exit(1);
    }

    d_context.to_host(context);
    d_attention.to_host(attention);
    std::ofstream out_context("data/context.bin", std::ios::binary);
    out_context.write((char*)context.data(), sizeof(float) * BATCH * WIDTH);
    std::ofstream out_attention("data/attention.bin", std::ios::binary);
    out_attention.write((char*)attention.data(), sizeof(float) * BATCH * STEPS);
    return 0;
}
