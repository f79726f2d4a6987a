#include <cstdio>
#include <cuda_runtime.h>

static const int BATCH = 3;
static const int LENGTH = 120;

// One warp a mask row; ballots give the count together with the writing.
__global__ void mask_rows(const int* __restrict__ document, unsigned char* __restrict__ mask,
                          int* __restrict__ visible) {
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= BATCH * LENGTH) return;
    const int i = row % LENGTH;
    const int* doc = document + (row - i);
    const int own = doc[i];
    int seen = 0;
    for (int start = 0; start < LENGTH; start += 32) {
        const int j = start + lane;
        const bool one = own != 0 && j <= i && doc[j] == own;
        seen += __popc(__ballot_sync(0xffffffffu, one));
        if (j < LENGTH) mask[(size_t)row * LENGTH + j] = one;
    }
    if (lane == 0) visible[row] = seen;
}

int main() {
    const int document_count = BATCH * LENGTH;
    const int mask_count = BATCH * LENGTH * LENGTH;
    int* document;
    unsigned char* mask;
    int* visible;
    cudaMallocManaged(&document, document_count * sizeof(int));
    cudaMallocManaged(&mask, mask_count * sizeof(unsigned char));
    cudaMallocManaged(&visible, document_count * sizeof(int));

    FILE* f_document = fopen("data/document.bin", "rb");
    if (!f_document || fread(document, sizeof(int), document_count, f_document) != document_count) {
        fprintf(stderr, "cannot read data/document.bin\n");
        return 1;
    }
    fclose(f_document);

    mask_rows<<<(BATCH * LENGTH + 4 - 1) / 4, 128>>>(document, mask, visible);
    cudaDeviceSynchronize();

    FILE* f_mask = fopen("data/mask.bin", "wb");
    if (!f_mask || fwrite(mask, sizeof(unsigned char), mask_count, f_mask) != mask_count) return 1;
    fclose(f_mask);
    FILE* f_visible = fopen("data/visible.bin", "wb");
    if (!f_visible || fwrite(visible, sizeof(int), document_count, f_visible) != document_count) return 1;
    fclose(f_visible);

    cudaFree(document);
    cudaFree(mask);
    cudaFree(visible);
    return 0;
}
