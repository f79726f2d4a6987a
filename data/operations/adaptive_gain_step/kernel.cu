#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static void check_cuda(cudaError_t status, const char* where) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s failed (%s)\n", where, cudaGetErrorString(status));
        std::exit(1);
    }
}

bool read_all(const char* path, void* ptr, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(ptr, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

bool write_all(const char* path, const void* ptr, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    const bool ok = fwrite(ptr, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

constexpr int kPoints = 5000;
constexpr int kDims = 2;

// A thread moves whole points and adds up their coordinates on the way.
__global__ void move_and_sum(const float* __restrict__ y, const float* __restrict__ grad,
                             const float* __restrict__ velocity, const float* __restrict__ gain,
                             float* __restrict__ y_out, float* __restrict__ velocity_out,
                             float* __restrict__ gain_out, double* sums) {
    float sum[kDims];
    for (int d = 0; d < kDims; ++d) sum[d] = 0.0f;
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < kPoints; p += gridDim.x * blockDim.x) {
        for (int d = 0; d < kDims; ++d) {
            const int i = p * kDims + d;
            const float g = grad[i], old = velocity[i];
            const float a = fmaxf(0.01f, (g > 0.0f) != (old > 0.0f) ? gain[i] + 0.2f : 0.8f * gain[i]);
            const float v = fmaf(-200.0f * a, g, 0.5f * old);
            const float moved = y[i] + v;
            gain_out[i] = a;
            velocity_out[i] = v;
            y_out[i] = moved;
            sum[d] += moved;
        }
    }
    for (int d = 0; d < kDims; ++d) {
        float s = sum[d];
        for (int k = 16; k > 0; k >>= 1) s += __shfl_down_sync(0xffffffffu, s, k);
        if (threadIdx.x % 32 == 0) atomicAdd(&sums[d], (double)s);
    }
}

__global__ void subtract_mean(float* y_out, const double* sums) {
    __shared__ float mean[kDims];
    if (threadIdx.x < kDims) mean[threadIdx.x] = (float)(sums[threadIdx.x] / kPoints);
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kPoints * kDims; i += gridDim.x * blockDim.x) {
        y_out[i] -= mean[i % kDims];
    }
}

int main() {
    std::vector<float> host_y(kPoints * kDims);
    std::vector<float> host_grad(kPoints * kDims);
    std::vector<float> host_velocity(kPoints * kDims);
    std::vector<float> host_gain(kPoints * kDims);
    std::vector<float> host_y_out(kPoints * kDims);
    std::vector<float> host_velocity_out(kPoints * kDims);
    std::vector<float> host_gain_out(kPoints * kDims);
    if (!read_all("data/y.bin", host_y.data(), kPoints * kDims * sizeof(float)) ||
        !read_all("data/grad.bin", host_grad.data(), kPoints * kDims * sizeof(float)) ||
        !read_all("data/velocity.bin", host_velocity.data(), kPoints * kDims * sizeof(float)) ||
        !read_all("data/gain.bin", host_gain.data(), kPoints * kDims * sizeof(float))) {
        fprintf(stderr, "input missing\n");
        return 1;
    }

    float* d_y;
    float* d_grad;
    float* d_velocity;
    float* d_gain;
    float* d_y_out;
    float* d_velocity_out;
    float* d_gain_out;
    double* d_sums;
    check_cuda(cudaMalloc(&d_y, kPoints * kDims * sizeof(float)), "malloc y");
    check_cuda(cudaMalloc(&d_grad, kPoints * kDims * sizeof(float)), "malloc grad");
    check_cuda(cudaMalloc(&d_velocity, kPoints * kDims * sizeof(float)), "malloc velocity");
    check_cuda(cudaMalloc(&d_gain, kPoints * kDims * sizeof(float)), "malloc gain");
    check_cuda(cudaMalloc(&d_y_out, kPoints * kDims * sizeof(float)), "malloc y_out");
    check_cuda(cudaMalloc(&d_velocity_out, kPoints * kDims * sizeof(float)), "malloc velocity_out");
    check_cuda(cudaMalloc(&d_gain_out, kPoints * kDims * sizeof(float)), "malloc gain_out");
    check_cuda(cudaMalloc(&d_sums, kDims * sizeof(double)), "malloc sums");
    check_cuda(cudaMemcpy(d_y, host_y.data(), kPoints * kDims * sizeof(float), cudaMemcpyHostToDevice), "upload y");
    check_cuda(cudaMemcpy(d_grad, host_grad.data(), kPoints * kDims * sizeof(float), cudaMemcpyHostToDevice),
            "upload grad");
    check_cuda(cudaMemcpy(d_velocity, host_velocity.data(), kPoints * kDims * sizeof(float),
            cudaMemcpyHostToDevice), "upload velocity");
    check_cuda(cudaMemcpy(d_gain, host_gain.data(), kPoints * kDims * sizeof(float), cudaMemcpyHostToDevice),
            "upload gain");
    check_cuda(cudaMemset(d_sums, 0, kDims * sizeof(double)), "memset");

    move_and_sum<<<256, 128>>>(d_y, d_grad, d_velocity, d_gain, d_y_out, d_velocity_out, d_gain_out, d_sums);
    subtract_mean<<<1024, 256>>>(d_y_out, d_sums);
    check_cuda(cudaGetLastError(), "launch");

    check_cuda(cudaMemcpy(host_y_out.data(), d_y_out, kPoints * kDims * sizeof(float), cudaMemcpyDeviceToHost),
            "copy y_out out");
    check_cuda(cudaMemcpy(host_velocity_out.data(), d_velocity_out, kPoints * kDims * sizeof(float),
            cudaMemcpyDeviceToHost), "copy velocity_out out");
    check_cuda(cudaMemcpy(host_gain_out.data(), d_gain_out, kPoints * kDims * sizeof(float),
            cudaMemcpyDeviceToHost), "copy gain_out out");
    if (!write_all("data/y_out.bin", host_y_out.data(), kPoints * kDims * sizeof(float))) {
        fprintf(stderr, "cannot write data/y_out.bin\n");
        return 1;
    }
    if (!write_all("data/velocity_out.bin", host_velocity_out.data(), kPoints * kDims * sizeof(float))) {
        fprintf(stderr, "cannot write data/velocity_out.bin\n");
        return 1;
    }
    if (!write_all("data/gain_out.bin", host_gain_out.data(), kPoints * kDims * sizeof(float))) {
        fprintf(stderr, "cannot write data/gain_out.bin\n");
        return 1;
    }
    cudaFree(d_y);
    cudaFree(d_grad);
    cudaFree(d_velocity);
    cudaFree(d_gain);
    cudaFree(d_y_out);
    cudaFree(d_velocity_out);
    cudaFree(d_gain_out);
    cudaFree(d_sums);
    return 0;
}
