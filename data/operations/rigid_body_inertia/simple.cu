#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct Buffer {
    T* ptr = nullptr;
    explicit Buffer(size_t count) {
        if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess) {
            fprintf(stderr, "out of device memory\n");
            exit(1);
        }
    }
    ~Buffer() { cudaFree(ptr); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
};

template <typename T>
void read_into(const char* path, std::vector<T>& v) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(v.data(), sizeof(T), v.size(), f) != v.size()) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

constexpr int kBodies = 50;
constexpr int kSize = 200;
const int kBlock = 128;

__device__ float block_sum(float v, float* buffer) {
    int t = threadIdx.x;
    buffer[t] = v;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s /= 2) {
        if (t < s) buffer[t] += buffer[t + s];
        __syncthreads();
    }
    float total = buffer[0];
    __syncthreads();
    return total;
}

__global__ void inertia_kernel(const float* particles, float* center, float* inertia) {
    __shared__ float buffer[kBlock];
    const float* p = particles + (size_t)blockIdx.x * kSize * 4;
    float mass = 0.0f, sx = 0.0f, sy = 0.0f, sz = 0.0f;
    for (int j = threadIdx.x; j < kSize; j += kBlock) {
        float m = p[4 * j + 3];
        mass += m;
        sx += m * p[4 * j];
        sy += m * p[4 * j + 1];
        sz += m * p[4 * j + 2];
    }
    mass = block_sum(mass, buffer);
    float cx = block_sum(sx, buffer) / mass;
    float cy = block_sum(sy, buffer) / mass;
    float cz = block_sum(sz, buffer) / mass;

    float part[6] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    for (int j = threadIdx.x; j < kSize; j += kBlock) {
        float x = p[4 * j] - cx, y = p[4 * j + 1] - cy, z = p[4 * j + 2] - cz, m = p[4 * j + 3];
        part[0] += m * (y * y + z * z);
        part[1] += m * (x * x + z * z);
        part[2] += m * (x * x + y * y);
        part[3] -= m * x * y;
        part[4] -= m * x * z;
        part[5] -= m * y * z;
    }
    for (int k = 0; k < 6; ++k) {
        float total = block_sum(part[k], buffer);
        if (threadIdx.x == 0) inertia[6 * blockIdx.x + k] = total;
    }
    if (threadIdx.x == 0) {
        center[3 * blockIdx.x] = cx;
        center[3 * blockIdx.x + 1] = cy;
        center[3 * blockIdx.x + 2] = cz;
    }
}

int main() {
    std::vector<float> h_particles(kBodies * kSize * 4);
    std::vector<float> h_center(kBodies * 3);
    std::vector<float> h_inertia(kBodies * 6);
    read_into("data/particles.bin", h_particles);

    Buffer<float> particles(kBodies * kSize * 4);
    Buffer<float> center(kBodies * 3);
    Buffer<float> inertia(kBodies * 6);
    cudaMemcpy(particles.ptr, h_particles.data(), sizeof(float) * kBodies * kSize * 4, cudaMemcpyHostToDevice);

    inertia_kernel<<<kBodies, kBlock>>>(particles.ptr, center.ptr, inertia.ptr);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "kernel launch failed\n");
        return 1;
    }

    cudaMemcpy(h_center.data(), center.ptr, sizeof(float) * kBodies * 3, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_inertia.data(), inertia.ptr, sizeof(float) * kBodies * 6, cudaMemcpyDeviceToHost);
    FILE* out = fopen("data/center.bin", "wb");
    if (!out) return 1;
    fwrite(h_center.data(), sizeof(float), h_center.size(), out);
    fclose(out);
    out = fopen("data/inertia.bin", "wb");
    if (!out) return 1;
    fwrite(h_inertia.data(), sizeof(float), h_inertia.size(), out);
    fclose(out);
    return 0;
}
