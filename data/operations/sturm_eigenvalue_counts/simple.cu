#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
struct DeviceBuffer {
    T* ptr = nullptr;
    size_t count;
    explicit DeviceBuffer(size_t n) : count(n) {
        if (cudaMalloc(&ptr, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~DeviceBuffer() { cudaFree(ptr); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    void copy_from(const std::vector<T>& v) {
        cudaMemcpy(ptr, v.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    }
    void copy_to(std::vector<T>& v) const {
        cudaMemcpy(v.data(), ptr, count * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(v.data()), count * sizeof(T));
    if (!file) throw std::runtime_error("cannot read " + path);
    return v;
}

const int N = 60;
const int SHIFTS = 400;

__global__ void sturm_counts(const double* diag, const double* off, const double* shift, int* below) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= SHIFTS) return;
    double s = shift[k];
    double q = diag[0] - s;
    int count = q < 0.0;
    for (int i = 1; i < N; ++i) {
        if (q == 0.0) q = 1e-300;
        q = diag[i] - s - off[i - 1] * off[i - 1] / q;
        if (q < 0.0) ++count;
    }
    below[k] = count;
}

int main() {
    std::vector<double> host_diag = load<double>("data/diag.bin", N);
    std::vector<double> host_off = load<double>("data/off.bin", N - 1);
    std::vector<double> host_shift = load<double>("data/shift.bin", SHIFTS);
    std::vector<int> host_below(SHIFTS);

    DeviceBuffer<double> d_diag(N), d_off(N - 1), d_shift(SHIFTS);
    DeviceBuffer<int> d_below(SHIFTS);
    d_diag.copy_from(host_diag);
    d_off.copy_from(host_off);
    d_shift.copy_from(host_shift);

    sturm_counts<<<(SHIFTS + 255) / 256, 256>>>(d_diag.ptr, d_off.ptr, d_shift.ptr, d_below.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("CUDA error");

    d_below.copy_to(host_below);
    std::ofstream("data/below.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(host_below.data()), SHIFTS * sizeof(int));
    return 0;
}
