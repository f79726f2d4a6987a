#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

const int N = 5000;

#define CK(x)                                                                            \
    do {                                                                                 \
        cudaError_t err = (x);                                                           \
        if (err != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err)); \
            exit(EXIT_FAILURE);                                                          \
        }                                                                                \
    } while (0)

__device__ int leap(int y) {
    return (y % 4 == 0 && (y % 100 != 0 || y % 400 == 0)) ? 1 : 0;
}

__global__ void iso_weeks(const int* dates, int* iso) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const int before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int y = dates[3 * i], m = dates[3 * i + 1], d = dates[3 * i + 2];
    int day_of_year = before[m - 1] + d + (m > 2 ? leap(y) : 0);
    int p = y - 1;
    int weekday = (p + p / 4 - p / 100 + p / 400 + day_of_year - 1) % 7 + 1;
    int thursday = day_of_year + 4 - weekday;
    if (thursday < 1) {
        y = y - 1;
        thursday += 365 + leap(y);
    } else if (thursday > 365 + leap(y)) {
        thursday -= 365 + leap(y);
        y = y + 1;
    }
    iso[3 * i] = y;
    iso[3 * i + 1] = (thursday - 1) / 7 + 1;
    iso[3 * i + 2] = weekday;
}

int main() {
    const size_t n = (size_t)N * 3;
    int* h_dates = (int*)malloc(n * sizeof(int));
    int* h_iso = (int*)malloc(n * sizeof(int));

    FILE* fp = fopen("data/dates.bin", "rb");
    if (!fp || fread(h_dates, sizeof(int), n, fp) != n) {
        fprintf(stderr, "cannot read data/dates.bin\n");
        return 1;
    }
    fclose(fp);

    int *d_dates, *d_iso;
    CK(cudaMalloc(&d_dates, n * sizeof(int)));
    CK(cudaMalloc(&d_iso, n * sizeof(int)));
    CK(cudaMemcpy(d_dates, h_dates, n * sizeof(int), cudaMemcpyHostToDevice));

    const int threads = 256;
    iso_weeks<<<(N + threads - 1) / threads, threads>>>(d_dates, d_iso);
    CK(cudaGetLastError());
    CK(cudaMemcpy(h_iso, d_iso, n * sizeof(int), cudaMemcpyDeviceToHost));

    fp = fopen("data/iso.bin", "wb");
    if (!fp) return 1;
    fwrite(h_iso, sizeof(int), n, fp);
    fclose(fp);

    cudaFree(d_dates);
    cudaFree(d_iso);
    free(h_dates);
    free(h_iso);
    return 0;
}
