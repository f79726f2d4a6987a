#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Heston {
    double spot, variance, rate, reversion, mean, spread, correlation, complement, dt;
};

__global__ void evolve(const float2* __restrict__ normals, float* __restrict__ terminal, Heston m, int paths,
                       int steps) {
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths) return;
    double v = m.variance, logPrice = 0.0;
    for (int step = 0; step < steps; ++step) {
        const float2 z = normals[static_cast<size_t>(step) * paths + path];
        const double positive = fmax(v, 0.0), root = sqrt(positive * m.dt);
        logPrice += (m.rate - 0.5 * positive) * m.dt + root * z.x;
        v += m.reversion * (m.mean - positive) * m.dt + m.spread * root * (m.correlation * z.x + m.complement * z.y);
    }
    terminal[path] = static_cast<float>(m.spot * exp(logPrice));
    terminal[paths + path] = static_cast<float>(fmax(v, 0.0));
}

static void require(bool good, const char* message) {
    if (good) return;
    fprintf(stderr, "%s\n", message);
    exit(1);
}
static void require(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

static void fill(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    require(file != nullptr, path);
    require(fread(target, 1, bytes, file) == bytes && fgetc(file) == EOF, path);
    fclose(file);
}

int main() {
    int sizes[2];
    float model[8];
    fill("data/sizes.bin", sizes, sizeof sizes);
    const int paths = sizes[0], steps = sizes[1];
    require(paths >= 1 && paths <= 500000 && steps >= 1 && steps <= 512, "data/sizes.bin: out of range");
    fill("data/model.bin", model, sizeof model);
    const size_t bytes = static_cast<size_t>(steps) * paths * sizeof(float2);
    float2 *hostNormals, *normals;
    float *hostTerminal, *terminal;
    require(cudaMallocHost(&hostNormals, bytes));
    require(cudaMallocHost(&hostTerminal, 2 * sizeof(float) * paths));
    require(cudaMalloc(&normals, bytes));
    require(cudaMalloc(&terminal, 2 * sizeof(float) * paths));
    fill("data/normals.bin", hostNormals, bytes);

    Heston m;
    m.spot = model[0];
    m.variance = model[1];
    m.rate = model[2];
    m.reversion = model[3];
    m.mean = model[4];
    m.spread = model[5];
    m.correlation = model[6];
    m.complement = std::sqrt(1.0 - m.correlation * m.correlation);
    m.dt = static_cast<double>(model[7]) / steps;
    cudaStream_t stream;
    require(cudaStreamCreate(&stream));
    require(cudaMemcpyAsync(normals, hostNormals, bytes, cudaMemcpyHostToDevice, stream));
    evolve<<<(paths + 255) / 256, 256, 0, stream>>>(normals, terminal, m, paths, steps);
    require(cudaGetLastError());
    require(cudaMemcpyAsync(hostTerminal, terminal, 2 * sizeof(float) * paths, cudaMemcpyDeviceToHost, stream));
    require(cudaStreamSynchronize(stream));
    FILE* file = fopen("data/terminal.bin", "wb");
    require(file && fwrite(hostTerminal, 2 * sizeof(float), paths, file) == static_cast<size_t>(paths), "terminal");
    require(fclose(file) == 0, "data/terminal.bin");
    require(cudaStreamDestroy(stream));
    require(cudaFree(normals));
    require(cudaFree(terminal));
    require(cudaFreeHost(hostNormals));
    require(cudaFreeHost(hostTerminal));
    return 0;
}
