#include <cuda_runtime.h>
#include <cstdio>

#define ROWS 64
#define PAIRS 40

// For every column: its partner, the cosine and the signed sine, so that out = c * own + s * partner.
__global__ void prepare(const int* columns, const float* theta, int* partner, float2* turn) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= PAIRS) return;
    float s, c;
    sincosf(theta[k], &s, &c);
    const int p = columns[2 * k], q = columns[2 * k + 1];
    partner[p] = q;
    partner[q] = p;
    turn[p] = make_float2(c, -s);
    turn[q] = make_float2(c, s);
}

__global__ void rotate_columns(const float* __restrict__ a, const int* __restrict__ partner,
                               const float2* __restrict__ turn, float* __restrict__ rotated) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= 2 * PAIRS) return;
    const int other = partner[col];
    const float2 cs = turn[col];
    for (int r = blockIdx.y; r < ROWS; r += gridDim.y) {
        const float* row = a + r * 2 * PAIRS;
        rotated[r * 2 * PAIRS + col] = fmaf(cs.x, row[col], cs.y * row[other]);
    }
}

static bool read_into(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

int main() {
    const size_t a_elems = (size_t)ROWS * PAIRS * 2;
    const size_t columns_elems = (size_t)PAIRS * 2;
    float *a, *theta, *rotated;
    int *columns, *partner;
    float2 *turn;
    cudaMallocManaged(&a, a_elems * sizeof(float));
    cudaMallocManaged(&columns, columns_elems * sizeof(int));
    cudaMallocManaged(&theta, PAIRS * sizeof(float));
    cudaMallocManaged(&rotated, a_elems * sizeof(float));
    cudaMallocManaged(&partner, columns_elems * sizeof(int));
    cudaMallocManaged(&turn, columns_elems * sizeof(float2));

    if (!read_into("data/a.bin", a, a_elems * sizeof(float)) ||
        !read_into("data/columns.bin", columns, columns_elems * sizeof(int)) ||
        !read_into("data/theta.bin", theta, PAIRS * sizeof(float))) {
        fprintf(stderr, "missing or short input\n");
        return 1;
    }

    prepare<<<(PAIRS + 127) / 128, 128>>>(columns, theta, partner, turn);
    dim3 blocks((2 * PAIRS + 127) / 128, ROWS < 256 ? ROWS : 256);
    rotate_columns<<<blocks, 128>>>(a, partner, turn, rotated);
    cudaDeviceSynchronize();

    FILE* out_rotated = fopen("data/rotated.bin", "wb");
    fwrite(rotated, sizeof(float), a_elems, out_rotated);
    fclose(out_rotated);

    cudaFree(a);
    cudaFree(columns);
    cudaFree(theta);
    cudaFree(rotated);
    cudaFree(partner);
    cudaFree(turn);
    return 0;
}
