#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int N = 4000;

inline void checkCuda(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

bool read_all(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

bool write_all(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(src, 1, bytes, f);
    fclose(f);
    return put == bytes;
}

// ln(tan + 1/cos) equals atanh(sin), which is odd and needs one trigonometric function.
__device__ float2 mercator(float lon, float lat) {
    float s = sinf(lat * 0.0174532925f);
    return make_float2((lon + 180.0f) * (1.0f / 360.0f), 0.5f - atanhf(s) * 0.159154943f);
}

__global__ void locate_tiles(const float* __restrict__ longitude, const float* __restrict__ latitude,
                             const int* __restrict__ zoom, int2* __restrict__ tiles, float2* __restrict__ local) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += stride) {
        float2 p = mercator(longitude[i], latitude[i]);
        float size = (float)(1 << zoom[i]);
        p.x *= size;
        p.y *= size;
        float x = fminf(fmaxf(floorf(p.x), 0.0f), size - 1.0f);
        float y = fminf(fmaxf(floorf(p.y), 0.0f), size - 1.0f);
        tiles[i] = make_int2((int)x, (int)y);
        local[i] = make_float2(p.x - x, p.y - y);
    }
}

int main() {
    std::vector<float> h_longitude(N);
    std::vector<float> h_latitude(N);
    std::vector<int> h_zoom(N);
    std::vector<int> h_tiles(N * 2);
    std::vector<float> h_local(N * 2);
    if (!read_all("data/longitude.bin", h_longitude.data(), N * sizeof(float))) {
        fprintf(stderr, "cannot read data/longitude.bin\n");
        return 1;
    }
    if (!read_all("data/latitude.bin", h_latitude.data(), N * sizeof(float))) {
        fprintf(stderr, "cannot read data/latitude.bin\n");
        return 1;
    }
    if (!read_all("data/zoom.bin", h_zoom.data(), N * sizeof(int))) {
        fprintf(stderr, "cannot read data/zoom.bin\n");
        return 1;
    }

    float *dLongitude, *dLatitude, *dLocal;
    int *dZoom, *dTiles;
    checkCuda(cudaMalloc(&dLongitude, N * sizeof(float)), "cudaMalloc");
    checkCuda(cudaMalloc(&dLatitude, N * sizeof(float)), "cudaMalloc");
    checkCuda(cudaMalloc(&dZoom, N * sizeof(int)), "malloc zoom");
    checkCuda(cudaMalloc(&dTiles, N * 2 * sizeof(int)), "cudaMalloc");
    checkCuda(cudaMalloc(&dLocal, N * 2 * sizeof(float)), "allocate local");
    checkCuda(cudaMemcpy(dLongitude, h_longitude.data(), N * sizeof(float), cudaMemcpyHostToDevice),
              "copy longitude");
    checkCuda(cudaMemcpy(dLatitude, h_latitude.data(), N * sizeof(float), cudaMemcpyHostToDevice), "copy latitude");
    checkCuda(cudaMemcpy(dZoom, h_zoom.data(), N * sizeof(int), cudaMemcpyHostToDevice), "copy zoom");

    const int blocks = min((N + 128 - 1) / 128, 1024);
    locate_tiles<<<blocks, 128>>>(dLongitude, dLatitude, dZoom, (int2*)dTiles, (float2*)dLocal);
    checkCuda(cudaGetLastError(), "kernel launch");

    checkCuda(cudaMemcpy(h_tiles.data(), dTiles, N * 2 * sizeof(int), cudaMemcpyDeviceToHost), "copy tiles");
    checkCuda(cudaMemcpy(h_local.data(), dLocal, N * 2 * sizeof(float), cudaMemcpyDeviceToHost), "copy local");
    if (!write_all("data/tiles.bin", h_tiles.data(), N * 2 * sizeof(int))) return 1;
    if (!write_all("data/local.bin", h_local.data(), N * 2 * sizeof(float))) return 1;

    cudaFree(dLongitude);
    cudaFree(dLatitude);
    cudaFree(dZoom);
    cudaFree(dTiles);
    cudaFree(dLocal);
    return 0;
}
