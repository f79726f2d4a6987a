#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int kBatch = 2;
static const int kChannels = 16;
static const int kPixels = 500;

// 32 pixels x 8 channel groups a block; partial sums meet in shared memory.
__global__ void unit_backward_split(const float* __restrict__ x, const float* __restrict__ dy,
                                    float* __restrict__ dx) {
    __shared__ float sq_part[8][32], dot_part[8][32];
    const int p = blockIdx.x * 32 + threadIdx.x;
    const bool live = p < kPixels;
    const size_t base = (size_t)blockIdx.y * kChannels * kPixels + p;
    float sq = 0.0f, dot = 0.0f;
    if (live) {
        for (int c = threadIdx.y; c < kChannels; c += 8) {
            float v = x[base + (size_t)c * kPixels];
            sq = fmaf(v, v, sq);
            dot = fmaf(v, dy[base + (size_t)c * kPixels], dot);
        }
    }
    sq_part[threadIdx.y][threadIdx.x] = sq;
    dot_part[threadIdx.y][threadIdx.x] = dot;
    __syncthreads();
    if (!live) return;
    sq = 1e-10f;
    dot = 0.0f;
    for (int k = 0; k < 8; ++k) {
        sq += sq_part[k][threadIdx.x];
        dot += dot_part[k][threadIdx.x];
    }
    const float inv = rsqrtf(sq);
    const float along = dot * inv * inv;
    for (int c = threadIdx.y; c < kChannels; c += 8) {
        size_t i = base + (size_t)c * kPixels;
        dx[i] = (dy[i] - x[i] * along) * inv;
    }
}

void compute(const float* d_x, const float* d_dy, float* d_dx) {
    dim3 block(32, 8);
    dim3 grid((kPixels + 32 - 1) / 32, kBatch);
    unit_backward_split<<<grid, block>>>(d_x, d_dy, d_dx);
}

int main() {
    const size_t num_elements = (size_t)kBatch * kChannels * kPixels;
    std::vector<float> h_x(num_elements);
    std::vector<float> h_dy(num_elements);
    std::vector<float> h_dx(num_elements);
    FILE* in_x = fopen("data/x.bin", "rb");
    if (!in_x || fread(h_x.data(), sizeof(float), num_elements, in_x) != num_elements) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return EXIT_FAILURE;
    }
    fclose(in_x);
    FILE* in_dy = fopen("data/dy.bin", "rb");
    if (!in_dy || fread(h_dy.data(), sizeof(float), num_elements, in_dy) != num_elements) {
        fprintf(stderr, "cannot read data/dy.bin\n");
        return EXIT_FAILURE;
    }
    fclose(in_dy);

    float *d_x, *d_dy, *d_dx;
    cudaMalloc(&d_x, num_elements * sizeof(float));
    cudaMalloc(&d_dy, num_elements * sizeof(float));
    cudaMalloc(&d_dx, num_elements * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), num_elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_dy, h_dy.data(), num_elements * sizeof(float), cudaMemcpyHostToDevice);

    compute(d_x, d_dy, d_dx);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(err));
        return 1;
    }

    cudaMemcpy(h_dx.data(), d_dx, num_elements * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* out_dx = fopen("data/dx.bin", "wb");
    if (!out_dx || fwrite(h_dx.data(), sizeof(float), num_elements, out_dx) != num_elements) return EXIT_FAILURE;
    fclose(out_dx);
    cudaFree(d_x);
    cudaFree(d_dy);
    cudaFree(d_dx);
    return 0;
}
