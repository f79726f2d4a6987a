#include <cuda_runtime.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

__device__ float3 fieldAt(const float4* spins, int x, int y, int z, int n) {
    const int xm = x == 0 ? n - 1 : x - 1, xp = x + 1 == n ? 0 : x + 1;
    const int ym = y == 0 ? n - 1 : y - 1, yp = y + 1 == n ? 0 : y + 1;
    const int zm = z == 0 ? n - 1 : z - 1, zp = z + 1 == n ? 0 : z + 1;
    const int neighbors[6] = {(z * n + y) * n + xm, (z * n + y) * n + xp, (z * n + ym) * n + x,
                              (z * n + yp) * n + x, (zm * n + y) * n + x, (zp * n + y) * n + x};
    float3 h = make_float3(0.0f, 0.0f, 0.0f);
    for (int k = 0; k < 6; ++k) {
        const float4 s = spins[neighbors[k]];
        h.x += s.x;
        h.y += s.y;
        h.z += s.z;
    }
    return h;
}

// blockIdx.z is the layer; a thread updates the site of one colour in a pair of columns.
__global__ void reflect(float4* spins, int colour, int n) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z, x = 2 * pair + ((y + z + colour) & 1);
    if (2 * pair >= n || y >= n) return;
    const float3 h = fieldAt(spins, x, y, z, n);
    const float square = h.x * h.x + h.y * h.y + h.z * h.z;
    if (square <= 1e-6f) return;
    float4 s = spins[(z * n + y) * n + x];
    const float scale = 2.0f * (s.x * h.x + s.y * h.y + s.z * h.z) / square;
    s.x = scale * h.x - s.x;
    s.y = scale * h.y - s.y;
    s.z = scale * h.z - s.z;
    spins[(z * n + y) * n + x] = s;
}

// One block adds the energy of all bonds in double.
__global__ void addEnergy(const float4* __restrict__ spins, double* energy, int n) {
    __shared__ double sums[512];
    double sum = 0.0;
    for (int i = threadIdx.x; i < n * n * n; i += 512) {
        const float4 s = spins[i];
        const float3 h = fieldAt(spins, i % n, i / n % n, i / n / n, n);
        sum -= 0.5 * (s.x * h.x + s.y * h.y + s.z * h.z);
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 256; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *energy = sums[0];
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static void readFile(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    const bool good = file && fread(target, 1, bytes, file) == bytes && fgetc(file) == EOF;
    if (file) fclose(file);
    if (!good) throw std::runtime_error(std::string(path) + ": wrong length");
}

static void writeFile(const char* path, const void* source, size_t bytes) {
    FILE* file = fopen(path, "wb");
    const bool good = file && fwrite(source, 1, bytes, file) == bytes;
    if (!file || fclose(file) != 0 || !good) throw std::runtime_error(std::string(path) + ": cannot be written");
}

int main() {
    try {
        int sizes[2];
        readFile("data/sizes.bin", sizes, sizeof sizes);
        const int half = sizes[0], sweeps = sizes[1], n = 2 * half;
        if (half < 1 || half > 64 || sweeps < 1 || sweeps > 200) throw std::runtime_error("data/sizes.bin: range");
        std::vector<float4> host(static_cast<size_t>(n) * n * n);
        const size_t bytes = host.size() * sizeof(float4);
        readFile("data/spins.bin", host.data(), bytes);
        float4* spins;
        double *energy, result;
        check(cudaMalloc(&spins, bytes));
        check(cudaMalloc(&energy, sizeof(double)));
        check(cudaMemcpy(spins, host.data(), bytes, cudaMemcpyHostToDevice));
        const dim3 block(32, 4), grid((half + 31) / 32, (n + 3) / 4, n);
        for (int sweep = 0; sweep < sweeps; ++sweep) {
            for (int colour = 0; colour < 2; ++colour) reflect<<<grid, block>>>(spins, colour, n);
        }
        addEnergy<<<1, 512>>>(spins, energy, n);
        check(cudaGetLastError());
        check(cudaMemcpy(host.data(), spins, bytes, cudaMemcpyDeviceToHost));
        check(cudaMemcpy(&result, energy, sizeof(double), cudaMemcpyDeviceToHost));
        check(cudaFree(spins));
        check(cudaFree(energy));
        writeFile("data/spins_out.bin", host.data(), bytes);
        writeFile("data/energy.bin", &result, sizeof result);
        return 0;
    } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
