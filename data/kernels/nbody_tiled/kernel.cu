#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

constexpr int kMaxBodies = 65536;
constexpr int kSteps = 4;
constexpr int kTile = 256;
constexpr float kTimeStep = 0.01f;
constexpr float kSoftening = 0.0025f;

__global__ void step(const float4* __restrict__ from, float4* __restrict__ to, float* __restrict__ velocity, int n) {
    __shared__ float4 tile[kTile];
    const int i = blockIdx.x * kTile + threadIdx.x;
    const float4 none = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float4 self = i < n ? from[i] : none;

    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int base = 0; base < n; base += kTile) {
        const int j = base + threadIdx.x;
        tile[threadIdx.x] = j < n ? from[j] : none;
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < kTile; ++k) {
            const float4 other = tile[k];
            const float dx = other.x - self.x;
            const float dy = other.y - self.y;
            const float dz = other.z - self.z;
            const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + kSoftening);
            const float factor = other.w * inverse * inverse * inverse;
            ax += dx * factor;
            ay += dy * factor;
            az += dz * factor;
        }
        __syncthreads();
    }

    if (i < n) {
        const float vx = velocity[3 * i] + kTimeStep * ax;
        const float vy = velocity[3 * i + 1] + kTimeStep * ay;
        const float vz = velocity[3 * i + 2] + kTimeStep * az;
        velocity[3 * i] = vx;
        velocity[3 * i + 1] = vy;
        velocity[3 * i + 2] = vz;
        to[i] = make_float4(self.x + kTimeStep * vx, self.y + kTimeStep * vy, self.z + kTimeStep * vz, self.w);
    }
}

#define CHECK(call)                                                                 \
    do {                                                                            \
        cudaError_t result = (call);                                                \
        if (result != cudaSuccess) {                                                \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(result)); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

template <typename T>
static std::vector<T> readValues(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) {
        fprintf(stderr, "%s: expected %zu values of %zu bytes\n", path, count, sizeof(T));
        exit(1);
    }
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    return values;
}

static void writeFloats(const char* path, const std::vector<float>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    out.close();
    if (!out) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    const int n = readValues<int>("data/sizes.bin", 1)[0];
    if (n < 1 || n > kMaxBodies) {
        fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", n, kMaxBodies);
        return 1;
    }
    std::vector<float> bodies = readValues<float>("data/bodies.bin", n * 4);
    std::vector<float> velocity = readValues<float>("data/velocity.bin", n * 3);
    const size_t bodyBytes = bodies.size() * sizeof(float);
    const size_t velocityBytes = velocity.size() * sizeof(float);

    float4 *from = nullptr, *to = nullptr;
    float* dVelocity = nullptr;
    CHECK(cudaMalloc(&from, bodyBytes));
    CHECK(cudaMalloc(&to, bodyBytes));
    CHECK(cudaMalloc(&dVelocity, velocityBytes));
    CHECK(cudaMemcpy(from, bodies.data(), bodyBytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dVelocity, velocity.data(), velocityBytes, cudaMemcpyHostToDevice));

    const int blocks = (n + kTile - 1) / kTile;
    for (int s = 0; s < kSteps; ++s) {
        step<<<blocks, kTile>>>(from, to, dVelocity, n);
        CHECK(cudaGetLastError());
        std::swap(from, to);
    }

    CHECK(cudaMemcpy(bodies.data(), from, bodyBytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(velocity.data(), dVelocity, velocityBytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    CHECK(cudaFree(dVelocity));
    writeFloats("data/bodies_out.bin", bodies);
    writeFloats("data/velocity_out.bin", velocity);
    return 0;
}
