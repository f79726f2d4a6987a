#include <cuda_runtime.h>
#include <fstream>
#include <vector>

const int BATCH = 6;
const int TIME = 70;
const int DIM = 100;

const int kLanes = 16;

// 32 dimensions x 16 time lanes; the lanes' sums are combined in shared memory.
__global__ void pool_stats(const float* __restrict__ frames, const int* __restrict__ lengths,
                           float* __restrict__ stats) {
    __shared__ float part[kLanes][33];
    const int d = blockIdx.x * 32 + threadIdx.x, lane = threadIdx.y;
    const int n = lengths[blockIdx.y];
    const bool inside = d < DIM;
    const float* x = frames + (size_t)blockIdx.y * TIME * DIM + (inside ? d : 0);
    float acc = 0.0f;
    for (int t = lane; t < n; t += kLanes) acc += x[(size_t)t * DIM];
    part[lane][threadIdx.x] = acc;
    __syncthreads();
    float mean = 0.0f;
    for (int k = 0; k < kLanes; ++k) mean += part[k][threadIdx.x];
    mean /= n;
    __syncthreads();
    acc = 0.0f;
    for (int t = lane; t < n; t += kLanes) {
        const float diff = x[(size_t)t * DIM] - mean;
        acc = fmaf(diff, diff, acc);
    }
    part[lane][threadIdx.x] = acc;
    __syncthreads();
    if (lane != 0 || !inside) return;
    float var = 0.0f;
    for (int k = 0; k < kLanes; ++k) var += part[k][threadIdx.x];
    float* out = stats + (size_t)blockIdx.y * 2 * DIM;
    out[d] = mean;
    out[DIM + d] = sqrtf(fmaxf(var / n, 1e-6f));
}

int main() {
    const int n_frames = BATCH * TIME * DIM;
    const int n_stats = BATCH * 2 * DIM;
    std::vector<float> frames_host(n_frames), stats_host(n_stats);
    std::vector<int> lengths_host(BATCH);
    std::ifstream in_frames("data/frames.bin", std::ios::binary);
    if (!in_frames.read((char*)frames_host.data(), n_frames * sizeof(float))) return 1;
    std::ifstream in_lengths("data/lengths.bin", std::ios::binary);
    if (!in_lengths.read((char*)lengths_host.data(), BATCH * sizeof(int))) return 1;
    float *d_frames, *d_stats;
    int *d_lengths;
    cudaMalloc(&d_frames, n_frames * sizeof(float));
    cudaMalloc(&d_lengths, BATCH * sizeof(int));
    cudaMalloc(&d_stats, n_stats * sizeof(float));
    cudaMemcpy(d_frames, frames_host.data(), n_frames * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_lengths, lengths_host.data(), BATCH * sizeof(int), cudaMemcpyHostToDevice);
    dim3 block(32, kLanes);
    dim3 grid((DIM + 32 - 1) / 32, BATCH);
    pool_stats<<<grid, block>>>(d_frames, d_lengths, d_stats);
    cudaMemcpy(stats_host.data(), d_stats, n_stats * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/stats.bin", std::ios::binary).write((char*)stats_host.data(), n_stats * sizeof(float));
    return 0;
}
