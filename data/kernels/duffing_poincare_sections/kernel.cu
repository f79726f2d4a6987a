#include <cuda_runtime.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int STEPS = 64;  // in a period
constexpr double H = 6.283185307179586477 / STEPS;

struct Duffing {
    double damping, linear, cubic, amplitude;
};

__constant__ double kDrive[2 * STEPS + 1];  // cos(t) at whole and half steps of a period

// The rate of change of (x, v); `half` counts half steps since the period began.
__device__ __forceinline__ double2 rate(const Duffing& d, double x, double v, int half) {
    return make_double2(v, d.amplitude * kDrive[half] - d.damping * v - x * (d.linear + d.cubic * x * x));
}

__global__ void integrate(const double2* __restrict__ start, double2* __restrict__ section,
                          double* __restrict__ energy, Duffing d, int starts, int periods) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= starts) return;
    double2 s = start[i];
    for (int period = 0; period < periods; ++period) {
        for (int step = 0; step < STEPS; ++step) {
            const double2 a = rate(d, s.x, s.y, 2 * step);
            const double2 b = rate(d, s.x + 0.5 * H * a.x, s.y + 0.5 * H * a.y, 2 * step + 1);
            const double2 c = rate(d, s.x + 0.5 * H * b.x, s.y + 0.5 * H * b.y, 2 * step + 1);
            const double2 e = rate(d, s.x + H * c.x, s.y + H * c.y, 2 * step + 2);
            s.x += H / 6.0 * (a.x + 2.0 * (b.x + c.x) + e.x);
            s.y += H / 6.0 * (a.y + 2.0 * (b.y + c.y) + e.y);
        }
    }
    section[i] = s;
    const double square = s.x * s.x;
    energy[i] = 0.5 * s.y * s.y + 0.5 * d.linear * square + 0.25 * d.cubic * square * square;
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

static void writeFile(const char* path, const void* device, size_t bytes) {
    std::vector<char> host(bytes);
    check(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    const bool good = file && fwrite(host.data(), 1, bytes, file) == bytes;
    if (!file || fclose(file) != 0 || !good) throw std::runtime_error(std::string(path) + ": cannot be written");
}

// One thread tabulates the drive, so that device and table agree on the cosine.
__global__ void tabulate(double* table) {
    for (int k = 0; k <= 2 * STEPS; ++k) table[k] = cospi(static_cast<double>(k) / STEPS);
}

int main() {
    try {
        int sizes[2];
        Duffing duffing;
        readFile("data/sizes.bin", sizes, sizeof sizes);
        readFile("data/drive.bin", &duffing, sizeof duffing);
        const int starts = sizes[0], periods = sizes[1];
        if (starts < 1 || starts > 200000 || periods < 1 || periods > 500) throw std::runtime_error("bad sizes");
        std::vector<double2> host(starts);
        readFile("data/start.bin", host.data(), starts * sizeof(double2));
        double2 *start, *section;
        double *energy, *table;
        std::vector<double> cosine(2 * STEPS + 1);
        check(cudaMalloc(&start, starts * sizeof(double2)));
        check(cudaMalloc(&section, starts * sizeof(double2)));
        check(cudaMalloc(&energy, starts * sizeof(double)));
        check(cudaMalloc(&table, cosine.size() * sizeof(double)));
        check(cudaMemcpy(start, host.data(), starts * sizeof(double2), cudaMemcpyHostToDevice));
        tabulate<<<1, 1>>>(table);
        check(cudaGetLastError());
        check(cudaMemcpy(cosine.data(), table, cosine.size() * sizeof(double), cudaMemcpyDeviceToHost));
        check(cudaMemcpyToSymbol(kDrive, cosine.data(), cosine.size() * sizeof(double)));
        integrate<<<(starts + 127) / 128, 128>>>(start, section, energy, duffing, starts, periods);
        check(cudaGetLastError());
        writeFile("data/section.bin", section, starts * sizeof(double2));
        writeFile("data/energy.bin", energy, starts * sizeof(double));
        check(cudaFree(start));
        check(cudaFree(section));
        check(cudaFree(energy));
        check(cudaFree(table));
        return 0;
    } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
