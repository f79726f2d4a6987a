#include <cuda_runtime.h>
#include <cstdio>

const int ROWS = 80;
const int COLS = 350;
const int TILE = 32;

// 32 rows per block. Tiles of 32 columns pass through shared memory so that global accesses are contiguous.
__global__ void cusum_tiles(const int* __restrict__ x, const int* __restrict__ target, unsigned char* alarm,
    int* alarms) {
    __shared__ int tile[TILE][TILE + 1];
    int lane = threadIdx.x;
    int first = blockIdx.x * TILE;
    int r = first + lane;
    int goal = r < ROWS ? target[r] : 0;
    int up = 0, down = 0, count = 0;
    for (int start = 0; start < COLS; start += TILE) {
        int width = min(TILE, COLS - start);
        for (int k = 0; k < TILE && first + k < ROWS; ++k) {
            if (lane < width) tile[k][lane] = x[(size_t)(first + k) * COLS + start + lane];
        }
        __syncthreads();
        for (int c = 0; c < width; ++c) {
            int d = r < ROWS ? tile[lane][c] - goal : 0;
            up = max(0, up + d - 4);
            down = max(0, down - d - 4);
            int code = (up > 40) | (down > 40) << 1;
            tile[lane][c] = code;
            if (code) {
                ++count;
                up = down = 0;
            }
        }
        __syncthreads();
        for (int k = 0; k < TILE && first + k < ROWS; ++k) {
            if (lane < width) alarm[(size_t)(first + k) * COLS + start + lane] = (unsigned char)tile[k][lane];
        }
        __syncthreads();
    }
    if (r < ROWS) alarms[r] = count;
}

int main() {
    const size_t size = (size_t)ROWS * COLS;
    int* x;
    int* target;
    unsigned char* alarm;
    int* alarms;
    cudaMallocManaged(&x, size * sizeof(int));
    cudaMallocManaged(&target, ROWS * sizeof(int));
    cudaMallocManaged(&alarm, size * sizeof(unsigned char));
    cudaMallocManaged(&alarms, ROWS * sizeof(int));

    FILE* fx = fopen("data/x.bin", "rb");
    if (!fx || fread(x, sizeof(int), size, fx) != size) {
        fprintf(stderr, "data/x.bin missing or short\n");
        return 1;
    }
    fclose(fx);
    FILE* ft = fopen("data/target.bin", "rb");
    if (!ft || fread(target, sizeof(int), ROWS, ft) != (size_t)ROWS) {
        fprintf(stderr, "data/target.bin missing or short\n");
        return 1;
    }
    fclose(ft);

    cusum_tiles<<<(ROWS + TILE - 1) / TILE, TILE>>>(x, target, alarm, alarms);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out_alarm = fopen("data/alarm.bin", "wb");
    fwrite(alarm, sizeof(unsigned char), size, out_alarm);
    fclose(out_alarm);
    FILE* out_alarms = fopen("data/alarms.bin", "wb");
    fwrite(alarms, sizeof(int), ROWS, out_alarms);
    fclose(out_alarms);

    cudaFree(x);
    cudaFree(target);
    cudaFree(alarm);
    cudaFree(alarms);
    return 0;
}
