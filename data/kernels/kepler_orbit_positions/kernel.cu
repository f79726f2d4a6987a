#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_TRY(call)                                                                       \
    do {                                                                                     \
        cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                          \
            fprintf(stderr, "CUDA at line %d: %s\n", __LINE__, cudaGetErrorString(error));   \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

static void input(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (file == NULL || fread(target, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s is missing or not %zu bytes long\n", path, bytes);
        exit(1);
    }
    fclose(file);
}

constexpr int EPOCHS_PER_THREAD = 8;
constexpr double PI = 3.14159265358979323846;

// Solves E - e sin E = M for -pi <= M <= pi by Halley's iteration, from a start that converges for every e < 1.
__device__ double eccentricAnomaly(double mean, double e) {
    double big = e < 0.8 ? mean + e * sin(mean) : copysign(PI, mean);
    for (int round = 0; round < 20; ++round) {
        double s, c;
        sincos(big, &s, &c);
        const double f = big - e * s - mean, slope = 1.0 - e * c;
        const double step = f / (slope - 0.5 * f * e * s / slope);
        big -= step;
        if (fabs(step) < 1e-13) break;
    }
    return big;
}

__global__ void locate(const double* __restrict__ elements, const double* __restrict__ times,
                       float* __restrict__ positions, int bodies, int epochs) {
    const int body = blockIdx.x * blockDim.x + threadIdx.x;
    if (body >= bodies) return;
    const double axis = elements[body], e = elements[bodies + body];
    const double anomaly = elements[5 * bodies + body], motion = elements[6 * bodies + body];
    double si, ci, sn, cn, sp, cp;
    sincos(elements[2 * bodies + body], &si, &ci);
    sincos(elements[3 * bodies + body], &sn, &cn);
    sincos(elements[4 * bodies + body], &sp, &cp);
    const double minor = axis * sqrt(1.0 - e * e);
    const int last = min(epochs, static_cast<int>(blockIdx.y + 1) * EPOCHS_PER_THREAD);
    for (int epoch = blockIdx.y * EPOCHS_PER_THREAD; epoch < last; ++epoch) {
        double mean = anomaly + motion * times[epoch];
        mean -= 2.0 * PI * rint(mean / (2.0 * PI));
        double s, c;
        sincos(eccentricAnomaly(mean, e), &s, &c);
        const double x = axis * (c - e), y = minor * s;
        const double along = cp * x - sp * y, across = sp * x + cp * y;
        float* out = positions + static_cast<size_t>(epoch) * 3 * bodies + body;
        out[0] = static_cast<float>(cn * along - sn * ci * across);
        out[bodies] = static_cast<float>(sn * along + cn * ci * across);
        out[2 * static_cast<size_t>(bodies)] = static_cast<float>(si * across);
    }
}

int main() {
    int sizes[2];
    input("data/sizes.bin", sizes, sizeof(sizes));
    const int bodies = sizes[0], epochs = sizes[1];
    if (bodies < 1 || bodies > 100000 || epochs < 1 || epochs > 1000) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    std::vector<double> elements(7 * static_cast<size_t>(bodies)), times(epochs);
    input("data/elements.bin", elements.data(), elements.size() * sizeof(double));
    input("data/times.bin", times.data(), times.size() * sizeof(double));
    std::vector<float> positions(3 * static_cast<size_t>(epochs) * bodies);
    double *dElements, *dTimes;
    float* dPositions;
    CUDA_TRY(cudaMalloc(&dElements, elements.size() * sizeof(double)));
    CUDA_TRY(cudaMalloc(&dTimes, times.size() * sizeof(double)));
    CUDA_TRY(cudaMalloc(&dPositions, positions.size() * sizeof(float)));
    CUDA_TRY(cudaMemcpy(dElements, elements.data(), elements.size() * sizeof(double), cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(dTimes, times.data(), times.size() * sizeof(double), cudaMemcpyHostToDevice));
    const dim3 grid((bodies + 127) / 128, (epochs + EPOCHS_PER_THREAD - 1) / EPOCHS_PER_THREAD);
    locate<<<grid, 128>>>(dElements, dTimes, dPositions, bodies, epochs);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaMemcpy(positions.data(), dPositions, positions.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_TRY(cudaFree(dElements));
    CUDA_TRY(cudaFree(dTimes));
    CUDA_TRY(cudaFree(dPositions));
    FILE* file = fopen("data/positions.bin", "wb");
    if (!file || fwrite(positions.data(), 4, positions.size(), file) != positions.size()) return 1;
    return fclose(file) == 0 ? 0 : 1;
}
