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

constexpr int THREADS = 256;

__device__ double blockSum(double value, double* scratch) {
    scratch[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
        __syncthreads();
    }
    const double sum = scratch[0];
    __syncthreads();
    return sum;
}

__global__ void structureFactors(const float4* __restrict__ particles, const int* __restrict__ waves,
                                 double* __restrict__ factors, int count) {
    __shared__ double scratch[THREADS];
    const int* wave = waves + 3 * blockIdx.x;
    const double kx = wave[0], ky = wave[1], kz = wave[2];
    double re = 0.0, im = 0.0;
    for (int i = threadIdx.x; i < count; i += THREADS) {
        const float4 p = particles[i];
        double turns = kx * p.x + ky * p.y + kz * p.z;
        turns -= rint(turns);
        float s, c;
        sincospif(static_cast<float>(2.0 * turns), &s, &c);
        re += static_cast<double>(p.w) * c;
        im += static_cast<double>(p.w) * s;
    }
    re = blockSum(re, scratch);
    im = blockSum(im, scratch);
    if (threadIdx.x == 0) {
        factors[2 * blockIdx.x] = re;
        factors[2 * blockIdx.x + 1] = im;
    }
}

__global__ void addEnergy(const int* __restrict__ waves, const double* __restrict__ factors, double* energy,
                          int count) {
    __shared__ double scratch[THREADS];
    double sum = 0.0;
    for (int k = threadIdx.x; k < count; k += THREADS) {
        sum += termOf(waves + 3 * k, factors[2 * k], factors[2 * k + 1]);
    }
    sum = blockSum(sum, scratch);
    if (threadIdx.x == 0) *energy = sum;
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
    structureFactors<<<waves, THREADS>>>(dParticles, dWaves, factors, particles);
    addEnergy<<<1, THREADS>>>(dWaves, factors, energy, waves);
    check(cudaGetLastError(), "launch");
    writeFromDevice("data/factors.bin", factors, 2 * static_cast<size_t>(waves));
    writeFromDevice("data/energy.bin", energy, 1);
    check(cudaFree(flat), "free");
    check(cudaFree(dWaves), "free");
    check(cudaFree(factors), "free");
    check(cudaFree(energy), "free");
    return 0;
}
