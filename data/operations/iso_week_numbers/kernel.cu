#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 5000;
constexpr int kBlock = 128;

static inline void must(cudaError_t e, const char* what) {
    if (e != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
        std::exit(1);
    }
}

static bool readFile(const char* path, void* dst, size_t bytes) {
    FILE* f = std::fopen(path, "rb");
    if (!f) return false;
    size_t got = std::fread(dst, 1, bytes, f);
    std::fclose(f);
    return got == bytes;
}

static bool writeFile(const char* path, const void* src, size_t bytes) {
    FILE* f = std::fopen(path, "wb");
    if (!f) return false;
    size_t put = std::fwrite(src, 1, bytes, f);
    return std::fclose(f) == 0 && put == bytes;
}

// Days from 1 January of the year 1 to 1 January of year y.
__device__ int new_year(int y) {
    int p = y - 1;
    return 365 * p + p / 4 - p / 100 + p / 400;
}

__global__ void iso_weeks_tiled(const int* __restrict__ dates, int* __restrict__ iso) {
    __shared__ int tile[3 * kBlock];
    const int base = 3 * kBlock * blockIdx.x;
    const int here = min(3 * kBlock, 3 * kN - base);
    for (int k = threadIdx.x; k < here; k += kBlock) tile[k] = dates[base + k];
    __syncthreads();
    int* mine = tile + 3 * threadIdx.x;
    if (3 * threadIdx.x < here) {
        int y = mine[0], m = mine[1];
        // Month lengths follow from (153 m + 2) / 5 when the year starts in March.
        int march_year = m > 2 ? y : y - 1;
        int day = new_year(march_year + 1) + (153 * ((m + 9) % 12) + 2) / 5 + mine[2] - 1 - 306;
        int weekday = day % 7 + 1;
        int thursday = day + 4 - weekday;
        int year = y;
        if (thursday < new_year(y)) --year;
        else if (thursday >= new_year(y + 1)) ++year;
        mine[0] = year;
        mine[1] = (thursday - new_year(year)) / 7 + 1;
        mine[2] = weekday;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < here; k += kBlock) iso[base + k] = tile[k];
}

int main() {
    const size_t n = kN * 3;
    std::vector<int> dates(n);
    std::vector<int> iso(n);
    if (!readFile("data/dates.bin", dates.data(), n * sizeof(int))) {
        std::fprintf(stderr, "input files missing or short\n");
        return 1;
    }

    int *d_dates = nullptr, *d_iso = nullptr;
    must(cudaMalloc(&d_dates, n * sizeof(int)), "malloc dates");
    must(cudaMalloc(&d_iso, n * sizeof(int)), "malloc iso");
    must(cudaMemcpy(d_dates, dates.data(), n * sizeof(int), cudaMemcpyHostToDevice),
          "copy dates");

    iso_weeks_tiled<<<(kN + kBlock - 1) / kBlock, kBlock>>>(d_dates, d_iso);
    must(cudaGetLastError(), "launch");
    must(cudaMemcpy(iso.data(), d_iso, n * sizeof(int), cudaMemcpyDeviceToHost),
          "copy iso");

    cudaFree(d_dates);
    cudaFree(d_iso);
    return writeFile("data/iso.bin", iso.data(), n * sizeof(int)) ? 0 : 1;
}
