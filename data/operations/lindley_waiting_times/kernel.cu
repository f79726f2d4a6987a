#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct DeviceBuffer {
    T* p = nullptr;
    explicit DeviceBuffer(size_t count) {
        if (cudaMalloc(&p, count * sizeof(T)) != cudaSuccess)
            { fprintf(stderr, "cudaMalloc failed\n"); exit(1); }
    }
    ~DeviceBuffer() { cudaFree(p); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

static const int QUEUES = 60;
static const int CUSTOMERS = 300;
static const int WARPS = 4;

// Steps compose as w -> max(low, w + add); a warp scan composes 32 of them at once.
__global__ void queue_waits_scan(const int* __restrict__ service, const int* __restrict__ gap,
    int* __restrict__ wait) {
    int q = blockIdx.x * WARPS + threadIdx.x / 32;
    if (q >= QUEUES) return;
    int lane = threadIdx.x % 32;
    size_t base = (size_t)q * CUSTOMERS;
    int carry = 0;
    for (int start = 0; start < CUSTOMERS; start += 32) {
        int n = start + lane;
        int add = 0;
        if (n > 0 && n < CUSTOMERS) add = service[base + n - 1] - gap[base + n];
        int low = 0;
        for (int s = 1; s < 32; s *= 2) {
            int add2 = __shfl_up_sync(0xffffffffu, add, s);
            int low2 = __shfl_up_sync(0xffffffffu, low, s);
            if (lane >= s) {
                low = max(low, low2 + add);
                add += add2;
            }
        }
        int w = max(low, carry + add);
        if (n < CUSTOMERS) wait[base + n] = w;
        carry = __shfl_sync(0xffffffffu, w, 31);
    }
}

int main() {
    const size_t n = (size_t)QUEUES * CUSTOMERS;
    std::vector<int> h_service(n);
    std::vector<int> h_gap(n);
    std::vector<int> h_wait(n);
    std::ifstream serviceIn("data/service.bin", std::ios::binary);
    if (!serviceIn.read(reinterpret_cast<char*>(h_service.data()), n * sizeof(int)))
        { fprintf(stderr, "cannot read data/service.bin\n"); exit(1); }
    std::ifstream gapIn("data/gap.bin", std::ios::binary);
    if (!gapIn.read(reinterpret_cast<char*>(h_gap.data()), n * sizeof(int)))
        { fprintf(stderr, "cannot read data/gap.bin\n"); exit(1); }

    DeviceBuffer<int> d_service(n);
    DeviceBuffer<int> d_gap(n);
    DeviceBuffer<int> d_wait(n);
    cudaMemcpy(d_service.p, h_service.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gap.p, h_gap.data(), n * sizeof(int), cudaMemcpyHostToDevice);

    queue_waits_scan<<<(QUEUES - 1) / WARPS + 1, 32 * WARPS>>>(d_service.p, d_gap.p, d_wait.p);
    if (cudaGetLastError() != cudaSuccess) { fprintf(stderr, "launch failed\n"); exit(1); }
    cudaMemcpy(h_wait.data(), d_wait.p, n * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream("data/wait.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(h_wait.data()), n * sizeof(int));
    return 0;
}
