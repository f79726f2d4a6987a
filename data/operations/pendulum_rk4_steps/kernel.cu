#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int PENDULUMS = 3000;

inline void ensure(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

bool read_all(const char* path, std::vector<float>& v) {
    FILE* fp = fopen(path, "rb");
    if (!fp) return false;
    size_t got = fread(v.data(), sizeof(float), v.size(), fp);
    fclose(fp);
    return got == v.size();
}

bool write_all(const char* path, const std::vector<float>& v) {
    FILE* fp = fopen(path, "wb");
    if (!fp) return false;
    size_t put = fwrite(v.data(), sizeof(float), v.size(), fp);
    fclose(fp);
    return put == v.size();
}

// The state is a pair (angle, speed); g / l is divided out once.
__device__ float2 slope(float2 s, float ratio) {
    return make_float2(s.y, fmaf(-ratio, sinf(s.x), -0.15f * s.y));
}

__device__ float2 ahead(float2 s, float h, float2 k) {
    return make_float2(fmaf(h, k.x, s.x), fmaf(h, k.y, s.y));
}

__global__ void integrate(const float* __restrict__ angle, const float* __restrict__ speed,
                          const float* __restrict__ length, float* __restrict__ new_angle,
                          float* __restrict__ new_speed) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < PENDULUMS; i += stride) {
        float2 s = make_float2(angle[i], speed[i]);
        float ratio = 9.81f / length[i];
        for (int step = 0; step < 100; ++step) {
            float2 k = slope(s, ratio);
            float2 sum = k;
            k = slope(ahead(s, 0.005f, k), ratio);
            sum = ahead(sum, 2.0f, k);
            k = slope(ahead(s, 0.005f, k), ratio);
            sum = ahead(sum, 2.0f, k);
            k = slope(ahead(s, 0.01f, k), ratio);
            sum = ahead(sum, 1.0f, k);
            s = ahead(s, 0.01f / 6.0f, sum);
        }
        new_angle[i] = s.x;
        new_speed[i] = s.y;
    }
}

int main() {
    std::vector<float> h_angle(PENDULUMS);
    std::vector<float> h_speed(PENDULUMS);
    std::vector<float> h_length(PENDULUMS);
    std::vector<float> h_new_angle(PENDULUMS);
    std::vector<float> h_new_speed(PENDULUMS);
    if (!read_all("data/angle.bin", h_angle) ||
        !read_all("data/speed.bin", h_speed) ||
        !read_all("data/length.bin", h_length)) {
        fprintf(stderr, "cannot read inputs\n");
        return 1;
    }

    float* d_angle = nullptr;
    float* d_speed = nullptr;
    float* d_length = nullptr;
    float* d_new_angle = nullptr;
    float* d_new_speed = nullptr;
    ensure(cudaMalloc(&d_angle, PENDULUMS * sizeof(float)), "cudaMalloc angle");
    ensure(cudaMalloc(&d_speed, PENDULUMS * sizeof(float)), "cudaMalloc speed");
    ensure(cudaMalloc(&d_length, PENDULUMS * sizeof(float)), "cudaMalloc length");
    ensure(cudaMalloc(&d_new_angle, PENDULUMS * sizeof(float)), "cudaMalloc new_angle");
    ensure(cudaMalloc(&d_new_speed, PENDULUMS * sizeof(float)), "cudaMalloc new_speed");
    ensure(cudaMemcpy(d_angle, h_angle.data(), PENDULUMS * sizeof(float), cudaMemcpyHostToDevice),
            "copy angle");
    ensure(cudaMemcpy(d_speed, h_speed.data(), PENDULUMS * sizeof(float), cudaMemcpyHostToDevice),
            "copy speed");
    ensure(cudaMemcpy(d_length, h_length.data(), PENDULUMS * sizeof(float), cudaMemcpyHostToDevice),
            "copy length");

    int blocks = (PENDULUMS + 127) / 128;
    if (blocks > 2048) blocks = 2048;
    integrate<<<blocks, 128>>>(d_angle, d_speed, d_length, d_new_angle, d_new_speed);
    ensure(cudaGetLastError(), "kernel");
    ensure(cudaMemcpy(h_new_angle.data(), d_new_angle, PENDULUMS * sizeof(float), cudaMemcpyDeviceToHost),
            "copy new_angle back");
    ensure(cudaMemcpy(h_new_speed.data(), d_new_speed, PENDULUMS * sizeof(float), cudaMemcpyDeviceToHost),
            "copy new_speed back");

    cudaFree(d_angle);
    cudaFree(d_speed);
    cudaFree(d_length);
    cudaFree(d_new_angle);
    cudaFree(d_new_speed);

    if (!write_all("data/new_angle.bin", h_new_angle)) {
        fprintf(stderr, "cannot write data/new_angle.bin\n");
        return 1;
    }
    if (!write_all("data/new_speed.bin", h_new_speed)) {
        fprintf(stderr, "cannot write data/new_speed.bin\n");
        return 1;
    }
}
