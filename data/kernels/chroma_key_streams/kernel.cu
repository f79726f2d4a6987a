#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>

constexpr int kMaxFrames = 64, kMaxPixels = 2097152;
constexpr int kThreads = 256, kMaxBlocks = 1024;
constexpr int kStreams = 2;
constexpr int kNear = 48;  // colours closer to the key than this are fully transparent
constexpr unsigned kColourBits = 0x00ffffffu;

// A pixel is 0xAABBGGRR.
__global__ void composite(const uint32_t* __restrict__ foreground, const uint32_t* __restrict__ background,
                          uint32_t* __restrict__ result, uint32_t key, int pixels) {
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < pixels; i += gridDim.x * kThreads) {
        const uint32_t front = foreground[i], back = background[i];
        const int distance = __vsadu4(front & kColourBits, key & kColourBits);
        const uint32_t alpha = min(max(2 * (distance - kNear), 0), 256);
        uint32_t pixel = 0xff000000u;
#pragma unroll
        for (int shift = 0; shift < 24; shift += 8) {
            const uint32_t a = front >> shift & 255u, b = back >> shift & 255u;
            pixel |= (a * alpha + b * (256 - alpha) + 128) >> 8 << shift;
        }
        result[i] = pixel;
    }
}

static void fail(const char* where, const char* what) {
    std::cerr << where << ": " << what << '\n';
    std::exit(EXIT_FAILURE);
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) fail(step, cudaGetErrorString(status));
}

static void readBytes(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) fail(path, "missing, or not of the expected length");
    in.seekg(0);
    if (!in.read(static_cast<char*>(target), bytes)) fail(path, "read error");
}

static void writeBytes(const char* path, const void* source, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(source), bytes);
    out.close();
    if (!out) fail(path, "write error");
}

int main() {
    int sizes[2];
    uint32_t key;
    readBytes("data/sizes.bin", sizes, sizeof(sizes));
    const int frames = sizes[0], pixels = sizes[1];
    if (frames < 1 || frames > kMaxFrames || pixels < 1 || pixels > kMaxPixels) {
        fail("data/sizes.bin", "frames or pixels is out of range");
    }
    readBytes("data/key.bin", &key, sizeof(key));

    const size_t frameBytes = static_cast<size_t>(pixels) * sizeof(uint32_t);
    uint32_t *video, *backdrop, *dBackdrop;  // the first two are page-locked host memory
    check(cudaMallocHost(&video, frames * frameBytes), "page-locked memory for the frames");
    check(cudaMallocHost(&backdrop, frameBytes), "page-locked memory for the background");
    readBytes("data/foreground.bin", video, frames * frameBytes);
    readBytes("data/background.bin", backdrop, frameBytes);
    check(cudaMalloc(&dBackdrop, frameBytes), "cudaMalloc");
    check(cudaMemcpy(dBackdrop, backdrop, frameBytes, cudaMemcpyHostToDevice), "copy of the background");

    cudaStream_t streams[kStreams];
    uint32_t *in[kStreams], *out[kStreams];
    for (int s = 0; s < kStreams; ++s) {
        check(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking), "stream");
        check(cudaMalloc(&in[s], frameBytes), "cudaMalloc");
        check(cudaMalloc(&out[s], frameBytes), "cudaMalloc");
    }
    check(cudaDeviceSynchronize(), "background ready");  // non-blocking streams do not wait for the default stream

    const int blocks = std::min((pixels + kThreads - 1) / kThreads, kMaxBlocks);
    for (int frame = 0; frame < frames; ++frame) {
        const int s = frame % kStreams;
        uint32_t* host = video + static_cast<size_t>(frame) * pixels;
        check(cudaMemcpyAsync(in[s], host, frameBytes, cudaMemcpyHostToDevice, streams[s]), "copy to the device");
        composite<<<blocks, kThreads, 0, streams[s]>>>(in[s], dBackdrop, out[s], key, pixels);
        check(cudaGetLastError(), "composite");
        check(cudaMemcpyAsync(host, out[s], frameBytes, cudaMemcpyDeviceToHost, streams[s]), "copy to the host");
    }
    for (int s = 0; s < kStreams; ++s) {
        check(cudaStreamSynchronize(streams[s]), "frames");
        check(cudaStreamDestroy(streams[s]), "cudaStreamDestroy");
        check(cudaFree(in[s]), "cudaFree");
        check(cudaFree(out[s]), "cudaFree");
    }
    writeBytes("data/composited.bin", video, frames * frameBytes);
    check(cudaFree(dBackdrop), "cudaFree");
    check(cudaFreeHost(video), "cudaFreeHost");
    check(cudaFreeHost(backdrop), "cudaFreeHost");
    return EXIT_SUCCESS;
}
