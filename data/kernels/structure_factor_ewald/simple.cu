#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t status, const char* where) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(status));
    exit(1);
}

template <typename T>
static T* readToDevice(const char* path, size_t count, std::vector<T>* copy = nullptr) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: wrong length\n", path);
        exit(1);
    }
    fclose(file);
    T* device;
    check(cudaMalloc(&device, count * sizeof(T)), path);
    check(cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice), path);
    if (copy) *copy = values;
    return device;
}

static void writeFromDevice(const char* path, const double* device, size_t count) {
    std::vector<double> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(double), cudaMemcpyDeviceToHost), path);
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(double), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

__device__ double termOf(const int* wave, double re, double im) {
    const double square = static_cast<double>(wave[0]) * wave[0] + static_cast<double>(wave[1]) * wave[1] +
                          static_cast<double>(wave[2]) * wave[2];
    return exp(-0.05 * square) / square * (re * re + im * im);
}

__global__ void structureFactors(const float4* particles, const int* waves, double* factors, int count, int total) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= total) return;
    double re = 0.0, im = 0.0;
    for (int i = 0; i < count; ++i) {
        const float4 p = particles[i];
        const double turns = static_cast<double>(waves[3 * k]) * p.x + static_cast<double>(waves[3 * k + 1]) * p.y +
                             static_cast<double>(waves[3 * k + 2]) * p.z;
        re += p.w * cospi(2.0 * turns);
        im += p.w * sinpi(2.0 * turns);
    }
    factors[2 * k] = re;
    factors[2 * k + 1] = im;
}

__global__ void addEnergy(const int* waves, const double* factors, double* energy, int total) {
    double sum = 0.0;
    for (int k = 0; k < total; ++k) sum += termOf(waves + 3 * k, factors[2 * k], factors[2 * k + 1]);
    *energy = sum;
}

int main() {
    std::vector<int> sizes, given;
    check(cudaFree(readToDevice("data/sizes.bin", 2, &sizes)), "sizes");
    const int particles = sizes[0], waves = sizes[1];
    if (particles < 1 || particles > 100000 || waves < 1 || waves > 8192) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    float* flat = readToDevice<float>("data/particles_in.bin", 4 * static_cast<size_t>(particles));
    int* dWaves = readToDevice("data/waves_in.bin", 3 * static_cast<size_t>(waves), &given);
    for (int k = 0; k < waves; ++k) {
        if (given[3 * k] == 0 && given[3 * k + 1] == 0 && given[3 * k + 2] == 0) return 1;
    }
    const float4* dParticles = reinterpret_cast<const float4*>(flat);
    double *factors, *energy;
    check(cudaMalloc(&factors, 2 * waves * sizeof(double)), "factors");
    check(cudaMalloc(&energy, sizeof(double)), "energy");
    structureFactors<<<(waves + 63) / 64, 64>>>(dParticles, dWaves, factors, particles, waves);
    addEnergy<<<1, 1>>>(dWaves, factors, energy, waves);
    check(cudaGetLastError(), "launch");
    writeFromDevice("data/factors.bin", factors, 2 * static_cast<size_t>(waves));
    writeFromDevice("data/energy.bin", energy, 1);
    check(cudaFree(flat), "free");
    check(cudaFree(dWaves), "free");
    check(cudaFree(factors), "free");
    check(cudaFree(energy), "free");
    return 0;
}
