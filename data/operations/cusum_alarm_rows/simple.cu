#include <fstream>
#include <stdexcept>
#include <vector>
#include <cuda_runtime.h>

static const int ROWS = 80;
static const int COLS = 350;

template <typename T>
struct DeviceBuffer {
    T* ptr = nullptr;
    explicit DeviceBuffer(size_t count) {
        if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceBuffer() { cudaFree(ptr); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

__global__ void cusum(const int* x, const int* target, unsigned char* alarm, int* alarms) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    int up = 0, down = 0, count = 0;
    for (int c = 0; c < COLS; ++c) {
        int d = x[(size_t)r * COLS + c] - target[r];
        up = max(0, up + d - 4);
        down = max(0, down - d - 4);
        int code = (up > 40 ? 1 : 0) + (down > 40 ? 2 : 0);
        alarm[(size_t)r * COLS + c] = (unsigned char)code;
        if (code != 0) {
            ++count;
            up = 0;
            down = 0;
        }
    }
    alarms[r] = count;
}

int main() {
    std::vector<int> x(ROWS * COLS);
    std::vector<int> target(ROWS);
    std::vector<unsigned char> alarm(ROWS * COLS);
    std::vector<int> alarms(ROWS);
    std::ifstream xIn("data/x.bin", std::ios::binary);
    if (!xIn.read(reinterpret_cast<char*>(x.data()), ROWS * COLS * sizeof(int)))
        throw std::runtime_error("cannot read data/x.bin");
    std::ifstream targetIn("data/target.bin", std::ios::binary);
    if (!targetIn.read(reinterpret_cast<char*>(target.data()), ROWS * sizeof(int)))
        throw std::runtime_error("cannot read data/target.bin");

    DeviceBuffer<int> d_x(ROWS * COLS);
    DeviceBuffer<int> d_target(ROWS);
    DeviceBuffer<unsigned char> d_alarm(ROWS * COLS);
    DeviceBuffer<int> d_alarms(ROWS);
    cudaMemcpy(d_x.ptr, x.data(), ROWS * COLS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_target.ptr, target.data(), ROWS * sizeof(int), cudaMemcpyHostToDevice);

    cusum<<<(ROWS - 1) / 64 + 1, 64>>>(d_x.ptr, d_target.ptr, d_alarm.ptr, d_alarms.ptr);
    if (cudaGetLastError() != cudaSuccess) throw std::runtime_error("launch failed");
    cudaMemcpy(alarm.data(), d_alarm.ptr, ROWS * COLS * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(alarms.data(), d_alarms.ptr, ROWS * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream("data/alarm.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(alarm.data()), ROWS * COLS * sizeof(unsigned char));
    std::ofstream("data/alarms.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(alarms.data()), ROWS * sizeof(int));
    return 0;
}
