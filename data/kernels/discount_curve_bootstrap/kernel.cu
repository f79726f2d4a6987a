#include <cuda_runtime.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// A year costs one division for the discount factor and one for the forward rate.
__global__ void bootstrap(const double* __restrict__ parRates, double* __restrict__ discounts,
                          double* __restrict__ forwards, int curves, int years) {
    const int curve = blockIdx.x * blockDim.x + threadIdx.x;
    if (curve >= curves) return;
    double annuity = 0.0, before = 1.0;
    for (int year = 0; year < years; ++year) {
        const size_t at = static_cast<size_t>(year) * curves + curve;
        const double rate = parRates[at];
        const double discount = (1.0 - rate * annuity) / (1.0 + rate);
        discounts[at] = discount;
        forwards[at] = before / discount - 1.0;
        annuity += discount;
        before = discount;
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

struct DeviceFree {
    void operator()(double* pointer) const { cudaFree(pointer); }
};
using DeviceArray = std::unique_ptr<double, DeviceFree>;

static DeviceArray allocate(size_t count) {
    double* pointer = nullptr;
    check(cudaMalloc(&pointer, count * sizeof(double)));
    return DeviceArray(pointer);
}

static void readAll(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) throw std::runtime_error(std::string("cannot open ") + path);
    const bool exact = fread(target, 1, bytes, file) == bytes && fgetc(file) == EOF;
    fclose(file);
    if (!exact) throw std::runtime_error(std::string("wrong length: ") + path);
}

static void save(const char* path, const DeviceArray& array, size_t count) {
    std::vector<double> values(count);
    check(cudaMemcpy(values.data(), array.get(), count * sizeof(double), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file) throw std::runtime_error(std::string("cannot open ") + path);
    const bool written = fwrite(values.data(), sizeof(double), count, file) == count;
    if (fclose(file) != 0 || !written) throw std::runtime_error(std::string("cannot write ") + path);
}

int main() try {
    int sizes[2];
    readAll("data/sizes.bin", sizes, sizeof sizes);
    const int curves = sizes[0], years = sizes[1];
    if (curves < 1 || curves > 100000 || years < 1 || years > 64) throw std::runtime_error("sizes out of range");
    const size_t count = static_cast<size_t>(curves) * years;
    std::vector<double> parRates(count);
    readAll("data/par_rates.bin", parRates.data(), count * sizeof(double));

    const DeviceArray dRates = allocate(count), dDiscounts = allocate(count), dForwards = allocate(count);
    check(cudaMemcpy(dRates.get(), parRates.data(), count * sizeof(double), cudaMemcpyHostToDevice));
    bootstrap<<<(curves + 127) / 128, 128>>>(dRates.get(), dDiscounts.get(), dForwards.get(), curves, years);
    check(cudaGetLastError());
    save("data/discounts.bin", dDiscounts, count);
    save("data/forwards.bin", dForwards, count);
    return 0;
} catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
    return 1;
}
