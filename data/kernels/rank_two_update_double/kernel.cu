#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <vector>

constexpr int kMaxRows = 16384, kMaxPairs = 8192;
constexpr int kThreads = 128;
constexpr int kRowsPerBlock = 32;

__global__ void rankTwoUpdate(double2* A, const double* __restrict__ x, const double* __restrict__ u,
                              const double2* __restrict__ y, const double2* __restrict__ v, int rows, int pairs) {
    __shared__ double2 factors[kRowsPerBlock];  // (x[i], u[i])
    const int row0 = blockIdx.y * kRowsPerBlock;
    if (threadIdx.x < kRowsPerBlock) {
        const int row = row0 + threadIdx.x;
        factors[threadIdx.x] = row < rows ? make_double2(x[row], u[row]) : make_double2(0.0, 0.0);
    }
    __syncthreads();

    const int pair = blockIdx.x * kThreads + threadIdx.x;
    if (pair >= pairs) return;
    const double2 plus = y[pair], minus = v[pair];
    const int count = min(kRowsPerBlock, rows - row0);
    double2* element = A + static_cast<size_t>(row0) * pairs + pair;
    for (int i = 0; i < count; ++i, element += pairs) {
        const double2 f = factors[i];
        double2 a = *element;
        a.x += f.x * plus.x - f.y * minus.x;
        a.y += f.x * plus.y - f.y * minus.y;
        *element = a;
    }
}

[[noreturn]] static void die(const char* subject, const char* reason) {
    std::fprintf(stderr, "%s: %s\n", subject, reason);
    std::exit(1);
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) die(step, cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) die(path, "cannot be opened");
    if (static_cast<size_t>(in.tellg()) != count * sizeof(T)) die(path, "has the wrong length");
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) die(path, "cannot be read");
    return values;
}

struct CudaFree {
    void operator()(double* pointer) const { cudaFree(pointer); }
};
using DevicePointer = std::unique_ptr<double, CudaFree>;

static DevicePointer upload(const char* path, size_t count) {
    const std::vector<double> host = readFile<double>(path, count);
    double* device = nullptr;
    check(cudaMalloc(&device, count * sizeof(double)), "allocation");
    check(cudaMemcpy(device, host.data(), count * sizeof(double), cudaMemcpyHostToDevice), "upload");
    return DevicePointer(device);
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 2);
    const int rows = sizes[0], pairs = sizes[1];
    if (rows < 1 || rows > kMaxRows) die("data/sizes.bin", "rows is out of range");
    if (pairs < 1 || pairs > kMaxPairs) die("data/sizes.bin", "pairs is out of range");
    const size_t cols = 2 * static_cast<size_t>(pairs);
    const size_t elements = rows * cols;

    const DevicePointer A = upload("data/A.bin", elements);
    const DevicePointer x = upload("data/x.bin", rows);
    const DevicePointer u = upload("data/u.bin", rows);
    const DevicePointer y = upload("data/y.bin", cols);
    const DevicePointer v = upload("data/v.bin", cols);

    const dim3 grid((pairs + kThreads - 1) / kThreads, (rows + kRowsPerBlock - 1) / kRowsPerBlock);
    rankTwoUpdate<<<grid, kThreads>>>(reinterpret_cast<double2*>(A.get()), x.get(), u.get(),
                                      reinterpret_cast<const double2*>(y.get()),
                                      reinterpret_cast<const double2*>(v.get()), rows, pairs);
    check(cudaGetLastError(), "launch");

    std::vector<double> updated(elements);
    check(cudaMemcpy(updated.data(), A.get(), elements * sizeof(double), cudaMemcpyDeviceToHost), "download");
    std::ofstream out("data/updated.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(updated.data()), elements * sizeof(double));
    out.close();
    if (!out) die("data/updated.bin", "cannot be written");
    return 0;
}
