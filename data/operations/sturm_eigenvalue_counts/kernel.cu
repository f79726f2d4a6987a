#include <cstdio>
#include <cuda_runtime.h>

#define N 60
#define SHIFTS 400
#define PIECE 256

// Matrix entries are staged in pieces, off-diagonal ones already squared; every thread treats two shifts.
__global__ void sturm_pairs(const double* __restrict__ diag, const double* __restrict__ off,
                            const double* __restrict__ shift, int* __restrict__ below) {
    __shared__ double d[PIECE], square[PIECE];
    const int k = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    const double s0 = k < SHIFTS ? shift[k] : 0.0;
    const double s1 = k + 1 < SHIFTS ? shift[k + 1] : 0.0;
    double q0 = 1.0, q1 = 1.0;
    int count0 = 0, count1 = 0;
    for (int base = 0; base < N; base += PIECE) {
        const int here = min(PIECE, N - base);
        for (int i = threadIdx.x; i < here; i += blockDim.x) {
            d[i] = diag[base + i];
            const double e = base + i > 0 ? off[base + i - 1] : 0.0;
            square[i] = e * e;
        }
        __syncthreads();
        for (int i = 0; i < here; ++i) {
            q0 = d[i] - s0 - square[i] / (q0 == 0.0 ? 1e-300 : q0);
            q1 = d[i] - s1 - square[i] / (q1 == 0.0 ? 1e-300 : q1);
            count0 += q0 < 0.0;
            count1 += q1 < 0.0;
        }
        __syncthreads();
    }
    if (k < SHIFTS) below[k] = count0;
    if (k + 1 < SHIFTS) below[k + 1] = count1;
}

static bool fill_from(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

int main() {
    const size_t count_off = N - 1;
    double *diag, *off, *shift;
    int *below;
    cudaMallocManaged(&diag, N * sizeof(double));
    cudaMallocManaged(&off, count_off * sizeof(double));
    cudaMallocManaged(&shift, SHIFTS * sizeof(double));
    cudaMallocManaged(&below, SHIFTS * sizeof(int));

    if (!fill_from("data/diag.bin", diag, N * sizeof(double)) ||
        !fill_from("data/off.bin", off, count_off * sizeof(double)) ||
        !fill_from("data/shift.bin", shift, SHIFTS * sizeof(double))) {
        fprintf(stderr, "missing or short input\n");
        return 1;
    }

    const int threads = 128;
    const int blocks = (SHIFTS + 255) / 256;
    sturm_pairs<<<blocks, threads>>>(diag, off, shift, below);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out_below = fopen("data/below.bin", "wb");
    fwrite(below, sizeof(int), SHIFTS, out_below);
    fclose(out_below);

    cudaFree(diag);
    cudaFree(off);
    cudaFree(shift);
    cudaFree(below);
    return 0;
}
