#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

struct Buffer {
    float* ptr = nullptr;
    size_t count;
    explicit Buffer(size_t n) : count(n) {
        if (cudaMalloc(&ptr, n * sizeof(float)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~Buffer() { cudaFree(ptr); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    void upload(const std::vector<float>& v) {
        cudaMemcpy(ptr, v.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    }
    void download(std::vector<float>& v) const {
        cudaMemcpy(v.data(), ptr, count * sizeof(float), cudaMemcpyDeviceToHost);
    }
};

std::vector<float> from_file(const std::string& path, size_t count) {
    std::vector<float> v(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(v.data()), count * sizeof(float));
    if (!file) throw std::runtime_error("cannot read " + path);
    return v;
}

const int ROWS = 50;
const int COLS = 99;
const int THREADS = 128;

// One block per row.
__global__ void complex_gemv(const float* a, const float* x, float* y) {
    __shared__ float re[THREADS];
    __shared__ float im[THREADS];
    int t = threadIdx.x;
    const float* row = a + (size_t)blockIdx.x * COLS * 2;
    float sr = 0.0f, si = 0.0f;
    for (int j = t; j < COLS; j += THREADS) {
        float p = row[2 * j], q = row[2 * j + 1];
        float u = x[2 * j], v = x[2 * j + 1];
        sr += p * u + q * v;
        si += q * u - p * v;
    }
    re[t] = sr;
    im[t] = si;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (t < s) {
            re[t] += re[t + s];
            im[t] += im[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        y[2 * blockIdx.x] = re[0];
        y[2 * blockIdx.x + 1] = im[0];
    }
}

int main() {
    std::vector<float> a = from_file("data/a.bin", ROWS * COLS * 2);
    std::vector<float> x = from_file("data/x.bin", COLS * 2);
    std::vector<float> y(ROWS * 2);

    Buffer d_a(ROWS * COLS * 2), d_x(COLS * 2), d_y(ROWS * 2);
    d_a.upload(a);
    d_x.upload(x);

    complex_gemv<<<ROWS, THREADS>>>(d_a.ptr, d_x.ptr, d_y.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    d_y.download(y);
    std::ofstream("data/y.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(y.data()), sizeof(float) * ROWS * 2);
    return 0;
}
