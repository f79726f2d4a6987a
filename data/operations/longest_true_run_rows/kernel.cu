#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CK(call) \
    do { \
        cudaError_t code = (call); \
        if (code != cudaSuccess) { \
            fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(code)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

static void read_input(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void write_output(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

#define ROWS 90
#define COLS 500
#define BLOCK 128

struct Piece {
    int size, head, tail, best, at;
};

// Joins two neighbouring pieces: the best run may cross the border.
__device__ Piece join(const Piece& a, const Piece& b, int b_begin) {
    Piece p;
    p.size = a.size + b.size;
    p.head = a.head == a.size ? a.size + b.head : a.head;
    p.tail = b.tail == b.size ? b.size + a.tail : b.tail;
    p.best = a.best;
    p.at = a.at;
    if (a.tail + b.head > p.best) {
        p.best = a.tail + b.head;
        p.at = b_begin - a.tail;
    }
    if (b.best > p.best) {
        p.best = b.best;
        p.at = b.at;
    }
    return p;
}

__global__ void longest_run_pieces(const unsigned char* __restrict__ mask, int* length, int* start) {
    __shared__ Piece pieces[BLOCK];
    const unsigned char* row = mask + (size_t)blockIdx.x * COLS;
    int t = threadIdx.x;
    int span = (COLS + BLOCK - 1) / BLOCK;
    int begin = min(t * span, COLS), end = min(begin + span, COLS);
    Piece p = {end - begin, 0, 0, 0, -1};
    int run = 0;
    for (int c = begin; c < end; ++c) {
        run = row[c] ? run + 1 : 0;
        if (run == c - begin + 1) p.head = run;
        if (run > p.best) {
            p.best = run;
            p.at = c - run + 1;
        }
    }
    p.tail = run;
    pieces[t] = p;
    __syncthreads();
    for (int s = 1; s < BLOCK; s *= 2) {
        if (t % (2 * s) == 0) pieces[t] = join(pieces[t], pieces[t + s], min((t + s) * span, COLS));
        __syncthreads();
    }
    if (t == 0) {
        length[blockIdx.x] = pieces[0].best;
        start[blockIdx.x] = pieces[0].at;
    }
}

int main() {
    const int n = ROWS * COLS;
    unsigned char* h_mask = (unsigned char*)malloc(n * sizeof(unsigned char));
    int* h_length = (int*)malloc(ROWS * sizeof(int));
    int* h_start = (int*)malloc(ROWS * sizeof(int));
    read_input("data/mask.bin", h_mask, n * sizeof(unsigned char));

    unsigned char* dMask;
    int* dLength;
    int* dStart;
    CK(cudaMalloc(&dMask, n * sizeof(unsigned char)));
    CK(cudaMalloc(&dLength, ROWS * sizeof(int)));
    CK(cudaMalloc(&dStart, ROWS * sizeof(int)));
    CK(cudaMemcpy(dMask, h_mask, n * sizeof(unsigned char), cudaMemcpyHostToDevice));

    longest_run_pieces<<<ROWS, BLOCK>>>(dMask, dLength, dStart);
    CK(cudaGetLastError());
    CK(cudaMemcpy(h_length, dLength, ROWS * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(h_start, dStart, ROWS * sizeof(int), cudaMemcpyDeviceToHost));

    write_output("data/length.bin", h_length, ROWS * sizeof(int));
    write_output("data/start.bin", h_start, ROWS * sizeof(int));

    cudaFree(dMask);
    cudaFree(dLength);
    cudaFree(dStart);
    free(h_mask);
    free(h_length);
    free(h_start);
    return 0;
}
