#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int COLS = 20;
constexpr int ROWS = 13;
constexpr int QUERIES = 15000;
constexpr int THREADS = 256;
const size_t elements = (size_t)ROWS * COLS;

__device__ float locate(const float* axis, int n, float q, int* cell) {
    q = fminf(fmaxf(q, axis[0]), axis[n - 1]);
    int lo = 0, len = n - 1;
    while (len > 1) {
        const int half = len >> 1;
        if (axis[lo + half] <= q) lo += half;
        len -= half;
    }
    *cell = lo;
    return (q - axis[lo]) / (axis[lo + 1] - axis[lo]);
}

// Both axes are kept in shared memory, and a block serves many queries.
__global__ void lookup_shared(const float* __restrict__ speed_axis, const float* __restrict__ load_axis,
                              const float* __restrict__ map, const float* __restrict__ speed,
                              const float* __restrict__ load, float* __restrict__ torque) {
    __shared__ float sx[COLS], ly[ROWS];
    for (int k = threadIdx.x; k < COLS; k += THREADS) sx[k] = speed_axis[k];
    for (int k = threadIdx.x; k < ROWS; k += THREADS) ly[k] = load_axis[k];
    __syncthreads();
    for (int q = blockIdx.x * THREADS + threadIdx.x; q < QUERIES; q += gridDim.x * THREADS) {
        int i, j;
        const float u = locate(sx, COLS, speed[q], &j);
        const float v = locate(ly, ROWS, load[q], &i);
        const float* c = map + i * COLS + j;
        torque[q] = (1.0f - v) * ((1.0f - u) * c[0] + u * c[1]) + v * ((1.0f - u) * c[COLS] + u * c[COLS + 1]);
    }
}

void solve(const float* dev_speed_axis, const float* dev_load_axis, const float* dev_map,
           const float* dev_speed, const float* dev_load, float* dev_torque) {
    lookup_shared<<<264, THREADS>>>(dev_speed_axis, dev_load_axis, dev_map, dev_speed, dev_load, dev_torque);
}

int main() {
    std::vector<float> h_speed_axis(COLS);
    std::vector<float> h_load_axis(ROWS);
    std::vector<float> h_map(elements);
    std::vector<float> h_speed(QUERIES);
    std::vector<float> h_load(QUERIES);
    std::vector<float> h_torque(QUERIES);
    FILE* speed_axis_file = fopen("data/speed_axis.bin", "rb");
    if (!speed_axis_file || fread(h_speed_axis.data(), sizeof(float), COLS, speed_axis_file) != COLS) {
        fprintf(stderr, "cannot read data/speed_axis.bin\n");
        return 1;
    }
    fclose(speed_axis_file);
    FILE* load_axis_file = fopen("data/load_axis.bin", "rb");
    if (!load_axis_file || fread(h_load_axis.data(), sizeof(float), ROWS, load_axis_file) != ROWS) {
        fprintf(stderr, "cannot read data/load_axis.bin\n");
        return 1;
    }
    fclose(load_axis_file);
    FILE* map_file = fopen("data/map.bin", "rb");
    if (!map_file || fread(h_map.data(), sizeof(float), elements, map_file) != elements) {
        fprintf(stderr, "cannot read data/map.bin\n");
        return 1;
    }
    fclose(map_file);
    FILE* speed_file = fopen("data/speed.bin", "rb");
    if (!speed_file || fread(h_speed.data(), sizeof(float), QUERIES, speed_file) != QUERIES) {
        fprintf(stderr, "cannot read data/speed.bin\n");
        return 1;
    }
    fclose(speed_file);
    FILE* load_file = fopen("data/load.bin", "rb");
    if (!load_file || fread(h_load.data(), sizeof(float), QUERIES, load_file) != QUERIES) {
        fprintf(stderr, "cannot read data/load.bin\n");
        return 1;
    }
    fclose(load_file);

    float* dev_speed_axis = nullptr;
    cudaMalloc(&dev_speed_axis, COLS * sizeof(float));
    cudaMemcpy(dev_speed_axis, h_speed_axis.data(), COLS * sizeof(float), cudaMemcpyHostToDevice);
    float* dev_load_axis = nullptr;
    cudaMalloc(&dev_load_axis, ROWS * sizeof(float));
    cudaMemcpy(dev_load_axis, h_load_axis.data(), ROWS * sizeof(float), cudaMemcpyHostToDevice);
    float* dev_map = nullptr;
    cudaMalloc(&dev_map, elements * sizeof(float));
    cudaMemcpy(dev_map, h_map.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
    float* dev_speed = nullptr;
    cudaMalloc(&dev_speed, QUERIES * sizeof(float));
    cudaMemcpy(dev_speed, h_speed.data(), QUERIES * sizeof(float), cudaMemcpyHostToDevice);
    float* dev_load = nullptr;
    cudaMalloc(&dev_load, QUERIES * sizeof(float));
    cudaMemcpy(dev_load, h_load.data(), QUERIES * sizeof(float), cudaMemcpyHostToDevice);
    float* dev_torque = nullptr;
    cudaMalloc(&dev_torque, QUERIES * sizeof(float));

    solve(dev_speed_axis, dev_load_axis, dev_map, dev_speed, dev_load, dev_torque);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(err));
        return 1;
    }
    cudaMemcpy(h_torque.data(), dev_torque, QUERIES * sizeof(float), cudaMemcpyDeviceToHost);

    FILE* torque_file = fopen("data/torque.bin", "wb");
    fwrite(h_torque.data(), sizeof(float), QUERIES, torque_file);
    fclose(torque_file);
    cudaFree(dev_speed_axis);
    cudaFree(dev_load_axis);
    cudaFree(dev_map);
    cudaFree(dev_speed);
    cudaFree(dev_load);
    cudaFree(dev_torque);
    return 0;
}
