#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int BATCH = 10;
const int N = 48;
const int THREADS = 256;
const int STEPS = 10;

// Warps take rows of w = a v.
__global__ void power_warps(const float* __restrict__ a, const float* __restrict__ start, float* __restrict__ vector,
                            float* __restrict__ lambda_max) {
    __shared__ float v[N], w[N];
    __shared__ float scale;
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const float* m = a + (size_t)blockIdx.x * N * N;
    for (int i = t; i < N; i += THREADS) w[i] = start[blockIdx.x * N + i];
    __syncthreads();
    for (int step = 0; step <= STEPS; ++step) {
        if (warp == 0) {
            float square = 0.0f;
            for (int i = lane; i < N; i += 32) square = fmaf(w[i], w[i], square);
            for (int s = 16; s > 0; s /= 2) square += __shfl_down_sync(0xffffffffu, square, s);
            if (lane == 0) scale = rsqrtf(square);
        }
        __syncthreads();
        const float inv = scale;
        for (int i = t; i < N; i += THREADS) v[i] = w[i] * inv;
        __syncthreads();
        for (int i = warp; i < N; i += THREADS / 32) {
            float sum = 0.0f;
            for (int j = lane; j < N; j += 32) sum = fmaf(m[i * N + j], v[j], sum);
            for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffffu, sum, s);
            if (lane == 0) w[i] = sum;
        }
        __syncthreads();
    }
    if (warp == 0) {
        float quotient = 0.0f;
        for (int i = lane; i < N; i += 32) quotient = fmaf(v[i], w[i], quotient);
        for (int s = 16; s > 0; s /= 2) quotient += __shfl_down_sync(0xffffffffu, quotient, s);
        if (lane == 0) lambda_max[blockIdx.x] = quotient;
    }
    for (int i = t; i < N; i += THREADS) vector[blockIdx.x * N + i] = v[i];
}

int main() {
    const size_t count_a = (size_t)BATCH * N * N;
    const size_t count_start = (size_t)BATCH * N;
    std::vector<float> h_a(count_a), h_start(count_start), h_vector(count_start), h_lambda_max(BATCH);
    std::ifstream f_a("data/a.bin", std::ios::binary);
    f_a.read(reinterpret_cast<char*>(h_a.data()), count_a * sizeof(float));
    if (!f_a) {
        std::cerr << "cannot read data/a.bin" << std::endl;
        return 1;
    }
    std::ifstream start_file("data/start.bin", std::ios::binary);
    start_file.read(reinterpret_cast<char*>(h_start.data()), count_start * sizeof(float));
    if (!start_file) {
        std::cerr << "could not read data/start.bin" << std::endl;
        return 1;
    }

    float *d_a, *d_start, *d_vector, *d_lambda_max;
    cudaMalloc(&d_a, count_a * sizeof(float));
    cudaMalloc(&d_start, count_start * sizeof(float));
    cudaMalloc(&d_vector, count_start * sizeof(float));
    cudaMalloc(&d_lambda_max, BATCH * sizeof(float));
    cudaMemcpy(d_a, h_a.data(), count_a * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_start, h_start.data(), count_start * sizeof(float), cudaMemcpyHostToDevice);

    power_warps<<<BATCH, THREADS>>>(d_a, d_start, d_vector, d_lambda_max);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_vector.data(), d_vector, count_start * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_lambda_max.data(), d_lambda_max, BATCH * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream vector_out("data/vector.bin", std::ios::binary);
    vector_out.write(reinterpret_cast<const char*>(h_vector.data()), count_start * sizeof(float));
    std::ofstream lambda_max_out("data/lambda_max.bin", std::ios::binary);
    lambda_max_out.write(reinterpret_cast<const char*>(h_lambda_max.data()), BATCH * sizeof(float));

    cudaFree(d_a);
    cudaFree(d_start);
    cudaFree(d_vector);
    cudaFree(d_lambda_max);
    return 0;
}
