#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define MAX_CURVES 64
#define MAX_TERMS 16
#define MAX_POINTS 4194304
#define THREADS 256

#define CHECK(call)                                                                               \
    do {                                                                                          \
        cudaError_t status_ = (call);                                                             \
        if (status_ != cudaSuccess) {                                                             \
            fprintf(stderr, "%s: %s (line %d)\n", #call, cudaGetErrorString(status_), __LINE__); \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

__constant__ float coefficients[MAX_CURVES * MAX_TERMS];

__global__ void evaluate(const float* __restrict__ x, float* __restrict__ values, float* __restrict__ slopes,
                         int degree, int n) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;

    const float* c = coefficients + blockIdx.y * (degree + 1);
    const float at = x[i];
    float value = c[degree];
    float slope = 0.0f;
    for (int k = degree - 1; k >= 0; --k) {
        slope = slope * at + value;
        value = value * at + c[k];
    }
    const size_t target = (size_t)blockIdx.y * n + i;
    values[target] = value;
    slopes[target] = slope;
}

// Fills the array from a file that holds exactly so many elements.
static void readExactly(const char* path, void* target, size_t size, size_t count) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(target, size, count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu elements of %zu bytes\n", path, count, size);
        exit(1);
    }
    fclose(file);
}

static void saveFromDevice(const char* path, const float* device, size_t count) {
    std::vector<float> host(count);
    CHECK(cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    bool complete = file && fwrite(host.data(), sizeof(float), count, file) == count;
    if (!file || fclose(file) != 0 || !complete) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    int sizes[3];
    readExactly("data/sizes.bin", sizes, sizeof(int), 3);
    const int curves = sizes[0], degree = sizes[1], n = sizes[2];
    if (curves < 1 || curves > MAX_CURVES || degree < 1 || degree >= MAX_TERMS || n < 1 || n > MAX_POINTS) {
        fprintf(stderr, "data/sizes.bin: %d curves of degree %d at %d points are not supported\n", curves, degree, n);
        return 1;
    }
    const size_t terms = (size_t)curves * (degree + 1);
    const size_t results = (size_t)curves * n;
    std::vector<float> hostCoefficients(terms), hostX(n);
    readExactly("data/coefficients.bin", hostCoefficients.data(), sizeof(float), terms);
    readExactly("data/x.bin", hostX.data(), sizeof(float), n);
    CHECK(cudaMemcpyToSymbol(coefficients, hostCoefficients.data(), terms * sizeof(float)));

    float *x, *values, *slopes;
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMalloc(&values, results * sizeof(float)));
    CHECK(cudaMalloc(&slopes, results * sizeof(float)));
    CHECK(cudaMemcpy(x, hostX.data(), n * sizeof(float), cudaMemcpyHostToDevice));

    dim3 grid((n + THREADS - 1) / THREADS, curves);
    evaluate<<<grid, THREADS>>>(x, values, slopes, degree, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());

    saveFromDevice("data/values.bin", values, results);
    saveFromDevice("data/slopes.bin", slopes, results);
    CHECK(cudaFree(x));
    CHECK(cudaFree(values));
    CHECK(cudaFree(slopes));
    return 0;
}
