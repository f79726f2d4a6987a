#include <cstdio>
#include <cuda_runtime.h>

#define N 4000
#define BLOCK 256

// Years are counted from 1 March, so that the leap day is the last one of a year of 400-year cycles.
__global__ void to_dates_march(const int* __restrict__ days, int* __restrict__ dates, int* __restrict__ weekday) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= N) return;
    int d = days[i] + 719162 + 306;
    int cycle = d / 146097;
    int in_cycle = d % 146097;
    int century = min(in_cycle / 36524, 3);
    int in_century = in_cycle - century * 36524;
    int four = in_century / 1461;
    int in_four = in_century % 1461;
    int single = min(in_four / 365, 3);
    int in_year = in_four - single * 365;
    int year = cycle * 400 + century * 100 + four * 4 + single;
    int m = (5 * in_year + 2) / 153;
    int day = in_year - (153 * m + 2) / 5 + 1;
    int month = m < 10 ? m + 3 : m - 9;
    int* out = dates + 3 * (size_t)i;
    out[0] = year + (m >= 10 ? 1 : 0);
    out[1] = month;
    out[2] = day;
    weekday[i] = (days[i] + 719162) % 7;
}

int main() {
    const size_t total = (size_t)N * 3;
    int *days, *dates, *weekday;
    cudaMallocManaged(&days, N * sizeof(int));
    cudaMallocManaged(&dates, total * sizeof(int));
    cudaMallocManaged(&weekday, N * sizeof(int));

    FILE* in = fopen("data/days.bin", "rb");
    if (in == NULL || fread(days, sizeof(int), N, in) != (size_t)N) {
        fprintf(stderr, "bad input: data/days.bin\n");
        return 1;
    }
    fclose(in);

    const int grid = (N + BLOCK - 1) / BLOCK;
    to_dates_march<<<grid, BLOCK>>>(days, dates, weekday);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out = fopen("data/dates.bin", "wb");
    fwrite(dates, sizeof(int), total, out);
    fclose(out);
    out = fopen("data/weekday.bin", "wb");
    fwrite(weekday, sizeof(int), N, out);
    fclose(out);
    cudaFree(days);
    cudaFree(dates);
    cudaFree(weekday);
    return 0;
}
