#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int WARPS = 8;
constexpr unsigned ALL = 0xffffffffu;

// The length of the well-formed sequence that starts at p, or 0; `left` bytes remain.
__device__ int sequenceLength(const uint8_t* p, int left) {
    const int first = p[0];
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4) return 0;
    const int length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (left < length) return 0;
    const int low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const int high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < low || p[1] > high) return 0;
    for (int k = 2; k < length; ++k) {
        if ((p[k] & 0xC0) != 0x80) return 0;
    }
    return length;
}

// A continuation byte is good if one of the three bytes before it starts a well-formed sequence that covers it.
__device__ bool isCovered(const uint8_t* text, int begin, int at, int end) {
    for (int back = 1; back <= 3 && at - back >= begin; ++back) {
        if ((text[at - back] & 0xC0) != 0x80) return sequenceLength(text + at - back, end - at + back) > back;
    }
    return false;
}

__global__ void validate(const int* __restrict__ offsets, const uint8_t* __restrict__ text, int* errorAt,
                         int* codepoints, int documents) {
    const int lane = threadIdx.x, document = blockIdx.x * WARPS + threadIdx.y;
    if (document >= documents) return;
    const int begin = offsets[document], end = offsets[document + 1];
    int count = 0, error = -1;
    for (int base = begin; base < end && error < 0; base += 32) {
        const int at = base + lane;
        bool starts = false, bad = false;
        if (at < end) {
            if ((text[at] & 0xC0) == 0x80) {
                bad = !isCovered(text, begin, at, end);
            } else {
                starts = sequenceLength(text + at, end - at) > 0;
                bad = !starts;
            }
        }
        const unsigned badLanes = __ballot_sync(ALL, bad);
        unsigned startLanes = __ballot_sync(ALL, starts);
        if (badLanes != 0) {
            const int firstBad = __ffs(badLanes) - 1;
            error = base + firstBad - begin;
            startLanes &= (1u << firstBad) - 1;
        }
        count += __popc(startLanes);
    }
    if (lane == 0) {
        errorAt[document] = error;
        codepoints[document] = count;
    }
}

static void ensure(bool fine, const char* what) {
    if (fine) return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}
static void ensure(cudaError_t status) { ensure(status == cudaSuccess, cudaGetErrorString(status)); }

static void readInto(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    ensure(file && fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF, path);
    fclose(file);
}

static void writeInts(const char* path, const int* managed, int count) {
    FILE* file = fopen(path, "wb");
    ensure(file && fwrite(managed, sizeof(int), count, file) == static_cast<size_t>(count), path);
    ensure(fclose(file) == 0, path);
}

int main() {
    int sizes[2];
    readInto("data/sizes.bin", sizes, sizeof sizes);
    const int documents = sizes[0], bytes = sizes[1];
    ensure(documents >= 1 && documents <= 200000 && bytes >= 1 && bytes <= 16000000, "range of data/sizes.bin");
    int *offsets, *errorAt, *codepoints;
    uint8_t* text;
    ensure(cudaMallocManaged(&offsets, (documents + 1) * sizeof(int)));
    ensure(cudaMallocManaged(&text, bytes));
    ensure(cudaMallocManaged(&errorAt, documents * sizeof(int)));
    ensure(cudaMallocManaged(&codepoints, documents * sizeof(int)));
    readInto("data/offsets.bin", offsets, (documents + 1) * sizeof(int));
    readInto("data/text.bin", text, bytes);
    ensure(offsets[0] == 0 && offsets[documents] == bytes, "offsets do not span the text");
    for (int d = 0; d < documents; ++d) ensure(offsets[d] <= offsets[d + 1], "offsets descend");

    validate<<<(documents + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(offsets, text, errorAt, codepoints, documents);
    ensure(cudaGetLastError());
    ensure(cudaDeviceSynchronize());
    writeInts("data/error_at.bin", errorAt, documents);
    writeInts("data/codepoints.bin", codepoints, documents);
    for (void* pointer : {(void*)offsets, (void*)text, (void*)errorAt, (void*)codepoints}) ensure(cudaFree(pointer));
    return 0;
}
