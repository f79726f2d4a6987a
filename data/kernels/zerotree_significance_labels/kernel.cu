#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxSide = 4096, kMaxLevels = 8, kMaxThreshold = 32767, kLabels = 5;
constexpr int kBlockX = 32, kBlockY = 8;

struct Pyramid {
    const int16_t* w;
    uint8_t* below;  // whether a descendant is significant
    int side, base, threshold;

    __device__ int at(int r, int c) const { return r * side + c; }
    __device__ bool significant(int r, int c) const { return abs(static_cast<int>(w[at(r, c)])) >= threshold; }
    __device__ bool alive(int r, int c) const { return significant(r, c) || below[at(r, c)] != 0; }
};

// The cells of the m x m corner that have four children, without those of its inner quarter.
__global__ void gatherFour(Pyramid p, int m) {
    const int r = blockIdx.y * kBlockY + threadIdx.y, c = blockIdx.x * kBlockX + threadIdx.x;
    if (r >= m || c >= m || (r < m / 2 && c < m / 2)) return;
    p.below[p.at(r, c)] = p.alive(2 * r, 2 * c) || p.alive(2 * r, 2 * c + 1) || p.alive(2 * r + 1, 2 * c) ||
                          p.alive(2 * r + 1, 2 * c + 1);
}

__global__ void gatherThree(Pyramid p) {
    const int r = blockIdx.y * kBlockY + threadIdx.y, c = blockIdx.x * kBlockX + threadIdx.x;
    if (r >= p.base || c >= p.base) return;
    p.below[p.at(r, c)] = p.alive(r, c + p.base) || p.alive(r + p.base, c) || p.alive(r + p.base, c + p.base);
}

__global__ void classify(Pyramid p, uint8_t* __restrict__ labels, int* counts) {
    __shared__ int blockCounts[kLabels];
    const int thread = threadIdx.y * kBlockX + threadIdx.x;
    if (thread < kLabels) blockCounts[thread] = 0;
    __syncthreads();
    const int r = blockIdx.y * kBlockY + threadIdx.y, c = blockIdx.x * kBlockX + threadIdx.x;
    int label = -1;
    if (r < p.side && c < p.side) {
        if (p.significant(r, c)) {
            label = p.w[p.at(r, c)] > 0 ? 3 : 4;
        } else if (p.below[p.at(r, c)]) {
            label = 0;
        } else {
            label = 1;
            if (r >= p.base || c >= p.base) {
                const bool coarsest = r < 2 * p.base && c < 2 * p.base;
                const int up = coarsest ? r % p.base : r / 2, left = coarsest ? c % p.base : c / 2;
                if (!p.alive(up, left)) label = 2;
            }
        }
        labels[p.at(r, c)] = static_cast<uint8_t>(label);
    }
    for (int k = 0; k < kLabels; ++k) {
        const unsigned votes = __ballot_sync(0xFFFFFFFFu, label == k);
        if (threadIdx.x == 0 && votes != 0) atomicAdd(&blockCounts[k], __popc(votes));
    }
    __syncthreads();
    if (thread < kLabels && blockCounts[thread] > 0) atomicAdd(&counts[thread], blockCounts[thread]);
}

static void stop(const char* what, const char* why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) stop("CUDA", cudaGetErrorString(status));
}

static void readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) stop(path, "wrong length");
    fclose(file);
}

static void writeDevice(const char* path, const void* device, size_t bytes) {
    std::vector<char> host(bytes);
    check(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host.data(), 1, bytes, file) != bytes || fclose(file) != 0) stop(path, "cannot be written");
}

static dim3 gridFor(int side) { return dim3((side + kBlockX - 1) / kBlockX, (side + kBlockY - 1) / kBlockY); }

int main() {
    int sizes[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int side = sizes[0], levels = sizes[1], threshold = sizes[2];
    if (side < 2 || side > kMaxSide || levels < 1 || levels > kMaxLevels || side % (1 << levels) != 0 ||
        threshold < 1 || threshold > kMaxThreshold) {
        stop("data/sizes.bin", "out of range");
    }
    const size_t cells = static_cast<size_t>(side) * side;
    std::vector<int16_t> w(cells);
    readFile("data/w.bin", w.data(), cells * sizeof(int16_t));

    int16_t* dW;
    uint8_t *below, *labels;
    int* counts;
    check(cudaMalloc(&dW, cells * sizeof(int16_t)));
    check(cudaMalloc(&below, cells));
    check(cudaMalloc(&labels, cells));
    check(cudaMalloc(&counts, kLabels * sizeof(int)));
    check(cudaMemcpy(dW, w.data(), cells * sizeof(int16_t), cudaMemcpyHostToDevice));
    check(cudaMemset(below, 0, cells));
    check(cudaMemset(counts, 0, kLabels * sizeof(int)));
    const Pyramid pyramid = {dW, below, side, side >> levels, threshold};
    const dim3 block(kBlockX, kBlockY);
    for (int m = side / 2; m > pyramid.base; m /= 2) {
        gatherFour<<<gridFor(m), block>>>(pyramid, m);
        check(cudaGetLastError());
    }
    gatherThree<<<gridFor(pyramid.base), block>>>(pyramid);
    check(cudaGetLastError());
    classify<<<gridFor(side), block>>>(pyramid, labels, counts);
    check(cudaGetLastError());
    writeDevice("data/labels.bin", labels, cells);
    writeDevice("data/counts.bin", counts, kLabels * sizeof(int));
    check(cudaFree(dW));
    check(cudaFree(below));
    check(cudaFree(labels));
    check(cudaFree(counts));
    return 0;
}
