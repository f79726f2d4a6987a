#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int MAX_POINTS = 1024;
constexpr float STEP = 0.25f;

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t e = (call);                                                         \
        if (e != cudaSuccess) {                                                         \
            fprintf(stderr, "CUDA in line %d: %s\n", __LINE__, cudaGetErrorString(e));  \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

template <typename T>
static std::vector<T> input(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu values\n", path, count);
        exit(1);
    }
    fclose(file);
    return values;
}

static float* onDevice(const std::vector<float>& values) {
    float* device;
    CHECK(cudaMalloc(&device, values.size() * sizeof(float)));
    CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

static void output(const char* path, const float* device, size_t count) {
    std::vector<float> values(count);
    CHECK(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(float), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: not written\n", path);
        exit(1);
    }
}

// The Hamiltonian of one component at an inner point.
__device__ __forceinline__ float energy(const float* f, float v, int i) {
    return -0.5f * (f[i + 1] - 2.0f * f[i] + f[i - 1]) + v * f[i];
}

// Half a step for every point of every system: part 0 is changed by part 1, then the other way round.
__global__ void halfStep(float* psi, const float* potential, int part, int points, long long total) {
    const long long at = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (at >= total) return;
    const int i = static_cast<int>(at % points);
    if (i == 0 || i == points - 1) return;
    float* system = psi + at / points * 2 * points;
    const float* other = system + (1 - part) * points;
    const float change = STEP * energy(other, potential[at], i);
    system[part * points + i] += part == 0 ? change : -change;
}

__global__ void addNorm(const float* psi, float* norm, int systems, int points) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    float sum = 0.0f;
    for (int k = 0; k < 2 * points; ++k) {
        const float value = psi[static_cast<size_t>(s) * 2 * points + k];
        sum += value * value;
    }
    norm[s] = sum;
}

int main() {
    const auto sizes = input<int>("data/sizes.bin", 3);
    const int systems = sizes[0], points = sizes[1], steps = sizes[2];
    if (systems < 1 || systems > 65535 || points < 3 || points > MAX_POINTS || steps < 1 || steps > 2000) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const size_t count = static_cast<size_t>(systems) * points;
    float* psi = onDevice(input<float>("data/psi.bin", 2 * count));
    float* potential = onDevice(input<float>("data/potential.bin", count));
    float* norm;
    CHECK(cudaMalloc(&norm, systems * sizeof(float)));
    const long long total = static_cast<long long>(count);
    const unsigned blocks = static_cast<unsigned>((total + 255) / 256);
    for (int step = 0; step < steps; ++step) {
        for (int part = 0; part < 2; ++part) halfStep<<<blocks, 256>>>(psi, potential, part, points, total);
    }
    addNorm<<<(systems + 127) / 128, 128>>>(psi, norm, systems, points);
    CHECK(cudaGetLastError());
    output("data/psi_out.bin", psi, 2 * count);
    output("data/norm.bin", norm, systems);
    for (float* pointer : {psi, potential, norm}) CHECK(cudaFree(pointer));
    return 0;
}
