#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define PACKETS 100
#define CUDA_CALL(call)                                                                   \
    do {                                                                                  \
        cudaError_t err_ = (call);                                                        \
        if (err_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

static void read_file(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void write_file(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

#define WARPS 8

// A warp decodes one packet: 40 words of four codes.
__global__ void decode_packets(const uchar4* __restrict__ codes, short4* __restrict__ pcm, int* __restrict__ peak) {
    __shared__ short table[256];
    for (int code = threadIdx.x; code < 256; code += blockDim.x) {
        int u = 255 - code;
        int size = (((u & 15) * 8 + 132) << ((u >> 4) & 7)) - 132;
        table[code] = u & 128 ? -size : size;
    }
    __syncthreads();
    int packet = blockIdx.x * WARPS + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (packet >= PACKETS) return;
    int best = 0;
    for (int w = lane; w < 40; w += 32) {
        uchar4 c = codes[packet * 40 + w];
        short4 s = make_short4(table[c.x], table[c.y], table[c.z], table[c.w]);
        pcm[packet * 40 + w] = s;
        best = max(max(best, abs(s.x)), max(abs(s.y), max(abs(s.z), abs(s.w))));
    }
    for (int k = 16; k > 0; k /= 2) best = max(best, __shfl_down_sync(0xffffffffu, best, k));
    if (lane == 0) peak[packet] = best;
}

int main() {
    const int num_codes = PACKETS * 160;
    const size_t codes_bytes = num_codes * sizeof(unsigned char);
    const size_t pcm_bytes = num_codes * sizeof(short);
    const size_t peak_bytes = PACKETS * sizeof(int);
    unsigned char* host_codes = (unsigned char*)malloc(codes_bytes);
    short* host_pcm = (short*)malloc(pcm_bytes);
    int* host_peak = (int*)malloc(peak_bytes);

    read_file("data/codes.bin", host_codes, codes_bytes);

    unsigned char* d_codes;
    short* d_pcm;
    int* d_peak;
    CUDA_CALL(cudaMalloc(&d_codes, codes_bytes));
    CUDA_CALL(cudaMalloc(&d_pcm, pcm_bytes));
    CUDA_CALL(cudaMalloc(&d_peak, peak_bytes));
    CUDA_CALL(cudaMemcpy(d_codes, host_codes, codes_bytes, cudaMemcpyHostToDevice));

    int blocks = (PACKETS + WARPS - 1) / WARPS;
    decode_packets<<<blocks, WARPS * 32>>>((const uchar4*)d_codes, (short4*)d_pcm, d_peak);
    CUDA_CALL(cudaGetLastError());
    CUDA_CALL(cudaDeviceSynchronize());

    CUDA_CALL(cudaMemcpy(host_pcm, d_pcm, pcm_bytes, cudaMemcpyDeviceToHost));
    CUDA_CALL(cudaMemcpy(host_peak, d_peak, peak_bytes, cudaMemcpyDeviceToHost));
    write_file("data/pcm.bin", host_pcm, pcm_bytes);
    write_file("data/peak.bin", host_peak, peak_bytes);

    cudaFree(d_codes);
    cudaFree(d_pcm);
    cudaFree(d_peak);
    free(host_codes);
    free(host_pcm);
    free(host_peak);
    return 0;
}
