#include <fstream>
#include <stdexcept>
#include <vector>
#include <cuda_runtime.h>

static const int ROWS = 48;
static const int COLS = 777;
static const int BLOCK = 256;

template <typename T>
struct GpuArray {
    T* p = nullptr;
    explicit GpuArray(size_t count) {
        if (cudaMalloc(&p, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~GpuArray() { cudaFree(p); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
    void upload(const std::vector<T>& v) { cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice); }
    void download(std::vector<T>& v) const {
        cudaMemcpy(v.data(), p, v.size() * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

__global__ void signed_peak(const float* x, float* peak, int* where) {
    __shared__ float mag[BLOCK];
    __shared__ int pos[BLOCK];
    const float* row = x + (size_t)blockIdx.x * COLS;
    int t = threadIdx.x;
    float best = -1.0f;
    int at = COLS;
    for (int c = t; c < COLS; c += BLOCK) {
        float a = fabsf(row[c]);
        if (a > best) {
            best = a;
            at = c;
        }
    }
    mag[t] = best;
    pos[t] = at;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) {
            if (mag[t + s] > mag[t] || (mag[t + s] == mag[t] && pos[t + s] < pos[t])) {
                mag[t] = mag[t + s];
                pos[t] = pos[t + s];
            }
        }
        __syncthreads();
    }
    if (t == 0) {
        peak[blockIdx.x] = row[pos[0]];
        where[blockIdx.x] = pos[0];
    }
}

int main() {
    const size_t total = (size_t)ROWS * COLS;
    std::vector<float> host_x(total);
    std::vector<float> host_peak(ROWS);
    std::vector<int> host_where(ROWS);
    std::ifstream in("data/x.bin", std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(host_x.data()), total * sizeof(float)))
        throw std::runtime_error("cannot read data/x.bin");

    GpuArray<float> gpu_x(total);
    GpuArray<float> gpu_peak(ROWS);
    GpuArray<int> gpu_where(ROWS);
    gpu_x.upload(host_x);

    signed_peak<<<ROWS, BLOCK>>>(gpu_x.p, gpu_peak.p, gpu_where.p);
    if (cudaGetLastError() != cudaSuccess) throw std::runtime_error("launch failed");
    gpu_peak.download(host_peak);
    gpu_where.download(host_where);

    std::ofstream("data/peak.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(host_peak.data()), ROWS * sizeof(float));
    std::ofstream("data/where.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(host_where.data()), ROWS * sizeof(int));
    return 0;
}
