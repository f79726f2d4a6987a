#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

inline void checkCuda(cudaError_t e, const char* what) {
    if (e != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
        exit(1);
    }
}

static bool slurp(const char* path, void* p, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(p, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

static bool spill(const char* path, const void* p, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(p, 1, bytes, f);
    return fclose(f) == 0 && put == bytes;
}

constexpr int HEIGHT = 60;
constexpr int WIDTH = 80;
constexpr int N_BOXES = 3000;

const int PITCH = WIDTH + 1;

__device__ int clamp_to(int v, int top) {
    return v < 0 ? 0 : (v > top ? top : v);
}

// A box is read as one int4; an empty one becomes a box of no width, so that the four terms cancel.
__global__ void box_sums_vec(const int* __restrict__ table, const int4* __restrict__ boxes,
                             int* __restrict__ total, float* __restrict__ mean) {
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N_BOXES; i += step) {
        const int4 b = boxes[i];
        const int y0 = clamp_to(b.x, HEIGHT), x0 = clamp_to(b.y, WIDTH);
        const int y1 = max(y0, clamp_to(b.z, HEIGHT)), x1 = max(x0, clamp_to(b.w, WIDTH));
        const int* top = table + y0 * PITCH;
        const int* low = table + y1 * PITCH;
        const int sum = (low[x1] - low[x0]) - (top[x1] - top[x0]);
        const int area = (y1 - y0) * (x1 - x0);
        total[i] = sum;
        mean[i] = (float)sum / max(area, 1);
    }
}

int main() {
    const int table_size = (HEIGHT + 1) * (WIDTH + 1);
    const int boxes_size = N_BOXES * 4;
    std::vector<int> host_table(table_size);
    std::vector<int> host_boxes(boxes_size);
    std::vector<int> host_total(N_BOXES);
    std::vector<float> host_mean(N_BOXES);
    if (!slurp("data/table.bin", host_table.data(), table_size * sizeof(int))) {
        fprintf(stderr, "cannot read table\n");
        return 1;
    }
    if (!slurp("data/boxes.bin", host_boxes.data(), boxes_size * sizeof(int))) {
        fprintf(stderr, "cannot read boxes\n");
        return 1;
    }

    int* table_gpu = nullptr;
    checkCuda(cudaMalloc(&table_gpu, table_size * sizeof(int)), "malloc table");
    int* boxes_gpu = nullptr;
    checkCuda(cudaMalloc(&boxes_gpu, boxes_size * sizeof(int)), "malloc boxes");
    int* total_gpu = nullptr;
    checkCuda(cudaMalloc(&total_gpu, N_BOXES * sizeof(int)), "malloc total");
    float* mean_gpu = nullptr;
    checkCuda(cudaMalloc(&mean_gpu, N_BOXES * sizeof(float)), "malloc mean");
    checkCuda(cudaMemcpy(table_gpu, host_table.data(), table_size * sizeof(int), cudaMemcpyHostToDevice),
            "copy table");
    checkCuda(cudaMemcpy(boxes_gpu, host_boxes.data(), boxes_size * sizeof(int), cudaMemcpyHostToDevice),
            "copy boxes");

    int blocks = (N_BOXES + 255) / 256;
    if (blocks > 1024) blocks = 1024;
    box_sums_vec<<<blocks, 256>>>(table_gpu, reinterpret_cast<const int4*>(boxes_gpu), total_gpu, mean_gpu);
    checkCuda(cudaGetLastError(), "launch");

    checkCuda(cudaMemcpy(host_total.data(), total_gpu, N_BOXES * sizeof(int), cudaMemcpyDeviceToHost), "copy total");
    checkCuda(cudaMemcpy(host_mean.data(), mean_gpu, N_BOXES * sizeof(float), cudaMemcpyDeviceToHost), "copy mean");
    if (!spill("data/total.bin", host_total.data(), N_BOXES * sizeof(int))) return 1;
    if (!spill("data/mean.bin", host_mean.data(), N_BOXES * sizeof(float))) return 1;
    cudaFree(table_gpu);
    cudaFree(boxes_gpu);
    cudaFree(total_gpu);
    cudaFree(mean_gpu);
    return 0;
}
