#include "missing.h"

__global__ void histo(const unsigned char* data, unsigned* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[data[i] % NUM_BINS], 1u);
}
