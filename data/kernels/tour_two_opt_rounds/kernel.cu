#include <cuda_runtime.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxCities = 1024;
constexpr int kThreads = 256;
constexpr unsigned kAll = 0xffffffffu;

__device__ int apart(short2 a, short2 b) { return abs(a.x - b.x) + abs(a.y - b.y); }

__device__ long long smallest(long long key) {
    for (int d = 16; d > 0; d /= 2) {
        const long long other = __shfl_down_sync(kAll, key, d);
        if (other < key) key = other;
    }
    return key;
}

__global__ void __launch_bounds__(kThreads) descend(const short2* __restrict__ places, int* __restrict__ orders,
                                                    int* lengths, int* moves, int cities, int rounds) {
    __shared__ short2 at[kMaxCities + 1];  // places along the tour; the first one stands at the end again
    __shared__ short id[kMaxCities];
    __shared__ long long keys[kThreads / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const short2* mine = places + static_cast<size_t>(blockIdx.x) * cities;
    for (int k = threadIdx.x; k < cities; k += kThreads) {
        at[k] = mine[k];
        id[k] = static_cast<short>(k);
    }
    if (threadIdx.x == 0) at[cities] = mine[0];
    __syncthreads();

    int done = 0;
    while (done < rounds) {
        long long best = LLONG_MAX;
        for (int i = warp; i < cities - 2; i += kThreads / 32) {
            const short2 a = at[i], b = at[i + 1];
            const int removed = apart(a, b);
            const int last = i == 0 ? cities - 1 : cities;  // the edges of (0, cities - 1) share a city
            for (int j = i + 2 + lane; j < last; j += 32) {
                const int change = apart(a, at[j]) + apart(b, at[j + 1]) - removed - apart(at[j], at[j + 1]);
                const long long key = change * (1LL << 20) + i * 1024 + j;
                if (key < best) best = key;
            }
        }
        best = smallest(best);
        if (lane == 0) keys[warp] = best;
        __syncthreads();
        best = keys[0];
        for (int w = 1; w < kThreads / 32; ++w) best = keys[w] < best ? keys[w] : best;
        if (best >= 0) break;  // the same for all threads: no change is below 0
        ++done;
        const int low = static_cast<int>(best & 0xFFFFF);
        const int from = low / 1024 + 1, to = low % 1024;
        for (int k = threadIdx.x; k < (to - from + 1) / 2; k += kThreads) {
            const short2 place = at[from + k];
            at[from + k] = at[to - k];
            at[to - k] = place;
            const short city = id[from + k];
            id[from + k] = id[to - k];
            id[to - k] = city;
        }
        __syncthreads();
    }

    long long length = 0;
    for (int k = threadIdx.x; k < cities; k += kThreads) {
        orders[static_cast<size_t>(blockIdx.x) * cities + k] = id[k];
        length += apart(at[k], at[k + 1]);
    }
    for (int d = 16; d > 0; d /= 2) length += __shfl_down_sync(kAll, length, d);
    __syncthreads();  // everybody has read the last keys
    if (lane == 0) keys[warp] = length;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < kThreads / 32; ++w) length += keys[w];
        lengths[blockIdx.x] = static_cast<int>(length);
        moves[blockIdx.x] = done;
    }
}

static void stop(const char* where, const char* why) {
    fprintf(stderr, "%s: %s\n", where, why);
    exit(1);
}

#define CUDA(call) \
    if (cudaError_t status = (call)) stop(#call, cudaGetErrorString(status))

static void readFile(const char* path, void* to, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) stop(path, "cannot be opened");
    if (fread(to, 1, bytes, file) != bytes || fgetc(file) != EOF) stop(path, "has another size");
    fclose(file);
}

static void writeInts(const char* path, const int* device, size_t count) {
    std::vector<int> values(count);
    CUDA(cudaMemcpy(values.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(int), count, file) != count) stop(path, "cannot be written");
    if (fclose(file) != 0) stop(path, "cannot be closed");
}

int main() {
    int32_t sizes[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int tours = sizes[0], cities = sizes[1], rounds = sizes[2];
    if (tours < 1 || tours > 4096 || cities < 5 || cities > kMaxCities || rounds < 1 || rounds > 1000) {
        stop("data/sizes.bin", "out of range");
    }
    const size_t count = static_cast<size_t>(tours) * cities;
    std::vector<short2> places(count);
    readFile("data/places.bin", places.data(), count * sizeof(short2));
    short2* dPlaces = nullptr;
    int *dOrders = nullptr, *dLengths = nullptr, *dMoves = nullptr;
    CUDA(cudaMalloc(&dPlaces, count * sizeof(short2)));
    CUDA(cudaMalloc(&dOrders, count * sizeof(int)));
    CUDA(cudaMalloc(&dLengths, tours * sizeof(int)));
    CUDA(cudaMalloc(&dMoves, tours * sizeof(int)));
    CUDA(cudaMemcpy(dPlaces, places.data(), count * sizeof(short2), cudaMemcpyHostToDevice));
    descend<<<tours, kThreads>>>(dPlaces, dOrders, dLengths, dMoves, cities, rounds);
    CUDA(cudaGetLastError());
    writeInts("data/order.bin", dOrders, count);
    writeInts("data/lengths.bin", dLengths, tours);
    writeInts("data/moves.bin", dMoves, tours);
    CUDA(cudaFree(dPlaces));
    CUDA(cudaFree(dOrders));
    CUDA(cudaFree(dLengths));
    CUDA(cudaFree(dMoves));
    return 0;
}
