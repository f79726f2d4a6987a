#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct DeviceArray {
    T* ptr = nullptr;
    explicit DeviceArray(size_t count) {
        if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess) {
            fprintf(stderr, "out of device memory\n");
            exit(1);
        }
    }
    ~DeviceArray() { cudaFree(ptr); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
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

constexpr int kChains = 20;
constexpr int kBeads = 50;
const int kSteps = 12;
const int kThreads = (kBeads + 31) / 32 * 32;

// A block simulates one chain: beads live in registers, positions are shared with the neighbours.
__global__ void simulate(const float2* position, const float2* velocity, float2* new_position,
    float2* new_velocity) {
    __shared__ float2 place[kBeads];
    int b = threadIdx.x;
    size_t at = (size_t)blockIdx.x * kBeads + b;
    bool real = b < kBeads;
    float2 p = make_float2(0.0f, 0.0f), v = p;
    if (real) {
        p = position[at];
        v = velocity[at];
    }
    for (int s = 0; s < kSteps; ++s) {
        if (real) place[b] = p;
        __syncthreads();
        if (real && b > 0) {
            float fx = -0.2f * v.x, fy = -9.81f - 0.2f * v.y;
            for (int side = -1; side <= 1; side += 2) {
                if (b + side >= kBeads) break;
                float dx = place[b + side].x - p.x, dy = place[b + side].y - p.y;
                float k = 50.0f - 25.0f / sqrtf(dx * dx + dy * dy);
                fx += k * dx;
                fy += k * dy;
            }
            v.x += 0.01f * fx;
            v.y += 0.01f * fy;
            p.x += 0.01f * v.x;
            p.y += 0.01f * v.y;
        }
        __syncthreads();
    }
    if (real) {
        new_position[at] = p;
        new_velocity[at] = v;
    }
}

int main() {
    std::vector<float> host_position(kChains * kBeads * 2);
    std::vector<float> host_velocity(kChains * kBeads * 2);
    std::vector<float> host_new_position(kChains * kBeads * 2);
    std::vector<float> host_new_velocity(kChains * kBeads * 2);
    read_into("data/position.bin", host_position);
    read_into("data/velocity.bin", host_velocity);

    DeviceArray<float> d_position(kChains * kBeads * 2);
    DeviceArray<float> d_velocity(kChains * kBeads * 2);
    DeviceArray<float> d_new_position(kChains * kBeads * 2);
    DeviceArray<float> d_new_velocity(kChains * kBeads * 2);
    cudaMemcpy(d_position.ptr, host_position.data(), kChains * kBeads * 2 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_velocity.ptr, host_velocity.data(), kChains * kBeads * 2 * sizeof(float), cudaMemcpyHostToDevice);

    simulate<<<kChains, kThreads>>>((const float2*)d_position.ptr, (const float2*)d_velocity.ptr,
                                  (float2*)d_new_position.ptr, (float2*)d_new_velocity.ptr);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "kernel launch failed\n");
        return 1;
    }

    cudaMemcpy(host_new_position.data(), d_new_position.ptr, kChains * kBeads * 2 * sizeof(float),
        cudaMemcpyDeviceToHost);
    cudaMemcpy(host_new_velocity.data(), d_new_velocity.ptr, kChains * kBeads * 2 * sizeof(float),
        cudaMemcpyDeviceToHost);
    FILE* out = fopen("data/new_position.bin", "wb");
    if (!out) return 1;
    fwrite(host_new_position.data(), sizeof(float), host_new_position.size(), out);
    fclose(out);
    out = fopen("data/new_velocity.bin", "wb");
    if (!out) return 1;
    fwrite(host_new_velocity.data(), sizeof(float), host_new_velocity.size(), out);
    fclose(out);
    return 0;
}
