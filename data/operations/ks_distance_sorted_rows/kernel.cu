#include <cstdio>
#include <cuda_runtime.h>

static const int ROWS = 100;
static const int LEN_A = 60;
static const int LEN_B = 45;
static const int BLOCK = 128;

__device__ int count_not_above(const float* row, int length, float v) {
    int lo = 0, hi = length;
    while (lo < hi) {
        const int mid = (lo + hi) / 2;
        if (row[mid] <= v) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

__device__ void keep_better(int& best, float& where, int d, float v) {
    if (d > best || (d == best && v < where)) {
        best = d;
        where = v;
    }
}

// One block a row; every entry is looked up in both samples by binary search.
__global__ void ks_block(const float* __restrict__ sample_a, const float* __restrict__ sample_b,
                         float* __restrict__ distance, float* __restrict__ location) {
    __shared__ int bests[BLOCK];
    __shared__ float places[BLOCK];
    const float* a = sample_a + (size_t)blockIdx.x * LEN_A;
    const float* b = sample_b + (size_t)blockIdx.x * LEN_B;
    const int t = threadIdx.x;
    int best = -1;
    float where = 0.0f;
    for (int k = t; k < LEN_A + LEN_B; k += BLOCK) {
        const float v = k < LEN_A ? a[k] : b[k - LEN_A];
        const int i = count_not_above(a, LEN_A, v), j = count_not_above(b, LEN_B, v);
        keep_better(best, where, abs(i * LEN_B - j * LEN_A), v);
    }
    bests[t] = best;
    places[t] = where;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (t < s) keep_better(bests[t], places[t], bests[t + s], places[t + s]);
        __syncthreads();
    }
    if (t == 0) {
        distance[blockIdx.x] = (float)bests[0] / ((float)LEN_A * (float)LEN_B);
        location[blockIdx.x] = places[0];
    }
}

int main() {
    const size_t sample_a_count = (size_t)ROWS * LEN_A;
    const size_t sample_b_count = (size_t)ROWS * LEN_B;
    float *sample_a, *sample_b, *distance, *location;
    cudaMallocManaged(&sample_a, sample_a_count * sizeof(float));
    cudaMallocManaged(&sample_b, sample_b_count * sizeof(float));
    cudaMallocManaged(&distance, ROWS * sizeof(float));
    cudaMallocManaged(&location, ROWS * sizeof(float));

    FILE* f = fopen("data/sample_a.bin", "rb");
    if (f == NULL || fread(sample_a, sizeof(float), sample_a_count, f) != sample_a_count) {
        fprintf(stderr, "bad input: data/sample_a.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/sample_b.bin", "rb");
    if (f == NULL || fread(sample_b, sizeof(float), sample_b_count, f) != sample_b_count) {
        fprintf(stderr, "bad input: data/sample_b.bin\n");
        return 1;
    }
    fclose(f);

    ks_block<<<ROWS, BLOCK>>>(sample_a, sample_b, distance, location);
    cudaDeviceSynchronize();

    FILE* out = fopen("data/distance.bin", "wb");
    fwrite(distance, sizeof(float), ROWS, out);
    fclose(out);
    out = fopen("data/location.bin", "wb");
    fwrite(location, sizeof(float), ROWS, out);
    fclose(out);
    cudaFree(sample_a);
    cudaFree(sample_b);
    cudaFree(distance);
    cudaFree(location);
    return 0;
}
