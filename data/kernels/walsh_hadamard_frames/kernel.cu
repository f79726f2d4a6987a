#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxChannels = 256, kMaxFrames = 1024, kMaxLength = 4096, kThreads = 256;

__global__ void hadamard(const int16_t* __restrict__ x, int* __restrict__ y, int n) {
    __shared__ int values[kMaxLength];
    const size_t frame = static_cast<size_t>(blockIdx.x) * n;
    const int lane = threadIdx.x % 32;
    for (int base = threadIdx.x - lane; base < n; base += kThreads) {  // the same for a whole warp
        const int t = base + lane;
        int own = t < n ? x[frame + t] : 0;
        for (int step = 1; step < 32 && step < n; step *= 2) {
            const int partner = __shfl_xor_sync(0xFFFFFFFFu, own, step);
            own = lane & step ? partner - own : own + partner;
        }
        if (t < n) values[t] = own;
    }
    __syncthreads();
    for (int step = 32; step < n; step *= 2) {
        for (int i = threadIdx.x; i < n / 2; i += kThreads) {
            const int low = 2 * i - (i & (step - 1));
            const int a = values[low], b = values[low + step];
            values[low] = a + b;
            values[low + step] = a - b;
        }
        __syncthreads();
    }
    for (int k = threadIdx.x; k < n; k += kThreads) y[frame + k] = values[k];
}

#define TRY(call)                                                       \
    do {                                                                \
        cudaError_t s = (call);                                         \
        if (s != cudaSuccess) fail(#call, cudaGetErrorString(s));       \
    } while (0)

static void fail(const char* what, const char* why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) fail(path, "cannot be opened");
    if (fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) fail(path, "has another length");
    fclose(file);
}

int main() {
    int sizes[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int channels = sizes[0], frames = sizes[1], n = sizes[2];
    if (channels < 1 || channels > kMaxChannels || frames < 1 || frames > kMaxFrames) {
        fail("data/sizes.bin", "channels or frames out of range");
    }
    if (n < 2 || n > kMaxLength || (n & (n - 1)) != 0) fail("data/sizes.bin", "n is no power of two in range");
    const size_t count = static_cast<size_t>(channels) * frames * n;
    std::vector<int16_t> x(count);
    std::vector<int> y(count);
    readFile("data/x.bin", x.data(), count * sizeof(int16_t));

    int16_t* dX;
    int* dY;
    TRY(cudaMalloc(&dX, count * sizeof(int16_t)));
    TRY(cudaMalloc(&dY, count * sizeof(int)));
    TRY(cudaMemcpy(dX, x.data(), count * sizeof(int16_t), cudaMemcpyHostToDevice));
    hadamard<<<channels * frames, kThreads>>>(dX, dY, n);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(y.data(), dY, count * sizeof(int), cudaMemcpyDeviceToHost));
    TRY(cudaFree(dX));
    TRY(cudaFree(dY));

    FILE* out = fopen("data/y.bin", "wb");
    if (!out || fwrite(y.data(), sizeof(int), count, out) != count || fclose(out) != 0) {
        fail("data/y.bin", "cannot be written");
    }
    return 0;
}
