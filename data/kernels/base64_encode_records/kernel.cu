#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// The character of a 6-bit value without a table.
__device__ __forceinline__ uint32_t character(uint32_t v) {
    if (v < 26) return 'A' + v;
    if (v < 52) return 'a' + v - 26;
    if (v < 62) return '0' + v - 52;
    return v == 62 ? '+' : '/';
}

// blockIdx.y strides over records; a thread makes one group of four characters, or four zeros behind the end.
__global__ void encode(const uint8_t* __restrict__ data, const int* __restrict__ lengths,
                       uint32_t* __restrict__ encoded, int records, int width, int groups) {
    const int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= groups) return;
    for (int record = blockIdx.y; record < records; record += gridDim.y) {
        const int left = lengths[record] - 3 * group;
        uint32_t word = 0;
        if (left > 0) {
            const uint8_t* in = data + static_cast<size_t>(record) * width + 3 * group;
            const uint32_t b0 = in[0], b1 = left > 1 ? in[1] : 0, b2 = left > 2 ? in[2] : 0;
            word = character(b0 >> 2) | character((b0 & 3) << 4 | b1 >> 4) << 8;
            word |= (left > 1 ? character((b1 & 15) << 2 | b2 >> 6) : '=') << 16;
            word |= (left > 2 ? character(b2 & 63) : '=') << 24;
        }
        encoded[static_cast<size_t>(record) * groups + group] = word;
    }
}

static void quit(const char* message) {
    fprintf(stderr, "%s\n", message);
    exit(1);
}

static void cudaOk(cudaError_t status) {
    if (status != cudaSuccess) quit(cudaGetErrorString(status));
}

static void load(const char* path, void* pinned, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) quit(path);
    if (fread(pinned, 1, bytes, file) != bytes || fgetc(file) != EOF) quit(path);
    fclose(file);
}

int main() {
    int sizes[2];
    load("data/sizes.bin", sizes, sizeof sizes);
    const int records = sizes[0], width = sizes[1];
    if (records < 1 || records > 65535 || width < 1 || width > 65536) quit("data/sizes.bin: out of range");
    const int groups = (width + 2) / 3;
    const size_t inBytes = static_cast<size_t>(records) * width, outBytes = static_cast<size_t>(records) * groups * 4;

    uint8_t *hostIn, *hostOut, *data;
    int *hostLengths, *lengths;
    uint32_t* encoded;
    cudaOk(cudaMallocHost(&hostIn, inBytes));
    cudaOk(cudaMallocHost(&hostLengths, records * sizeof(int)));
    cudaOk(cudaMallocHost(&hostOut, outBytes));
    cudaOk(cudaMalloc(&data, inBytes));
    cudaOk(cudaMalloc(&lengths, records * sizeof(int)));
    cudaOk(cudaMalloc(&encoded, outBytes));
    load("data/data.bin", hostIn, inBytes);
    load("data/lengths.bin", hostLengths, records * sizeof(int));
    for (int r = 0; r < records; ++r) {
        if (hostLengths[r] < 0 || hostLengths[r] > width) quit("data/lengths.bin: a length is out of range");
    }

    cudaStream_t stream;
    cudaOk(cudaStreamCreate(&stream));
    cudaOk(cudaMemcpyAsync(data, hostIn, inBytes, cudaMemcpyHostToDevice, stream));
    cudaOk(cudaMemcpyAsync(lengths, hostLengths, records * sizeof(int), cudaMemcpyHostToDevice, stream));
    const dim3 grid((groups + 127) / 128, records < 4096 ? records : 4096);
    encode<<<grid, 128, 0, stream>>>(data, lengths, encoded, records, width, groups);
    cudaOk(cudaGetLastError());
    cudaOk(cudaMemcpyAsync(hostOut, encoded, outBytes, cudaMemcpyDeviceToHost, stream));
    cudaOk(cudaStreamSynchronize(stream));

    FILE* file = fopen("data/encoded.bin", "wb");
    if (!file || fwrite(hostOut, 1, outBytes, file) != outBytes || fclose(file) != 0) quit("data/encoded.bin");
    cudaOk(cudaStreamDestroy(stream));
    for (void* pointer : {(void*)data, (void*)lengths, (void*)encoded}) cudaOk(cudaFree(pointer));
    for (void* pointer : {(void*)hostIn, (void*)hostLengths, (void*)hostOut}) cudaOk(cudaFreeHost(pointer));
    return 0;
}
