#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

const int COLS = 20;
const int ROWS = 13;
const int QUERIES = 15000;

inline void checkCuda(cudaError_t status, const char* msg) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(status));
        exit(1);
    }
}

bool readFile(const char* path, std::vector<float>& v) {
    FILE* fp = fopen(path, "rb");
    if (!fp) return false;
    size_t got = fread(v.data(), sizeof(float), v.size(), fp);
    fclose(fp);
    return got == v.size();
}

bool writeFile(const char* path, const std::vector<float>& v) {
    FILE* fp = fopen(path, "wb");
    if (!fp) return false;
    size_t put = fwrite(v.data(), sizeof(float), v.size(), fp);
    fclose(fp);
    return put == v.size();
}

// Index of the interval of the axis that holds q.
__device__ int find_cell(const float* axis, int n, float q) {
    int lo = 0, hi = n - 1;
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (axis[mid] <= q) lo = mid;
        else hi = mid;
    }
    return lo;
}

__global__ void lookup(const float* sx, const float* ly, const float* map, const float* speed,
                       const float* load, float* torque) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= QUERIES) return;
    float s = fminf(fmaxf(speed[q], sx[0]), sx[COLS - 1]);
    float l = fminf(fmaxf(load[q], ly[0]), ly[ROWS - 1]);
    int j = find_cell(sx, COLS, s);
    int i = find_cell(ly, ROWS, l);
    float u = (s - sx[j]) / (sx[j + 1] - sx[j]);
    float v = (l - ly[i]) / (ly[i + 1] - ly[i]);
    const float* cell = map + i * COLS + j;
    float low = cell[0] + u * (cell[1] - cell[0]);
    float high = cell[COLS] + u * (cell[COLS + 1] - cell[COLS]);
    torque[q] = low + v * (high - low);
}

int main() {
    const size_t elements = (size_t)ROWS * COLS;
    std::vector<float> h_speed_axis(COLS);
    std::vector<float> h_load_axis(ROWS);
    std::vector<float> h_map(elements);
    std::vector<float> h_speed(QUERIES);
    std::vector<float> h_load(QUERIES);
    std::vector<float> h_torque(QUERIES);
    if (!readFile("data/speed_axis.bin", h_speed_axis)) {
        fprintf(stderr, "cannot read data/speed_axis.bin\n");
        return 1;
    }
    if (!readFile("data/load_axis.bin", h_load_axis)) {
        fprintf(stderr, "cannot read data/load_axis.bin\n");
        return 1;
    }
    if (!readFile("data/map.bin", h_map)) {
        fprintf(stderr, "cannot read data/map.bin\n");
        return 1;
    }
    if (!readFile("data/speed.bin", h_speed)) {
        fprintf(stderr, "cannot read data/speed.bin\n");
        return 1;
    }
    if (!readFile("data/load.bin", h_load)) {
        fprintf(stderr, "cannot read data/load.bin\n");
        return 1;
    }

    float *d_speed_axis, *d_load_axis, *d_map, *d_speed, *d_load, *d_torque;
    checkCuda(cudaMalloc(&d_speed_axis, COLS * sizeof(float)), "malloc d_speed_axis");
    checkCuda(cudaMalloc(&d_load_axis, ROWS * sizeof(float)), "malloc d_load_axis");
    checkCuda(cudaMalloc(&d_map, elements * sizeof(float)), "malloc d_map");
    checkCuda(cudaMalloc(&d_speed, QUERIES * sizeof(float)), "malloc d_speed");
    checkCuda(cudaMalloc(&d_load, QUERIES * sizeof(float)), "malloc d_load");
    checkCuda(cudaMalloc(&d_torque, QUERIES * sizeof(float)), "malloc d_torque");

    checkCuda(cudaMemcpy(d_speed_axis, h_speed_axis.data(), COLS * sizeof(float), cudaMemcpyHostToDevice),
            "copy d_speed_axis");
    checkCuda(cudaMemcpy(d_load_axis, h_load_axis.data(), ROWS * sizeof(float), cudaMemcpyHostToDevice),
            "copy d_load_axis");
    checkCuda(cudaMemcpy(d_map, h_map.data(), elements * sizeof(float), cudaMemcpyHostToDevice), "copy d_map");
    checkCuda(cudaMemcpy(d_speed, h_speed.data(), QUERIES * sizeof(float), cudaMemcpyHostToDevice),
            "copy d_speed");
    checkCuda(cudaMemcpy(d_load, h_load.data(), QUERIES * sizeof(float), cudaMemcpyHostToDevice), "copy d_load");

    lookup<<<(QUERIES + 255) / 256, 256>>>(d_speed_axis, d_load_axis, d_map, d_speed, d_load, d_torque);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaDeviceSynchronize(), "kernel");
    checkCuda(cudaMemcpy(h_torque.data(), d_torque, QUERIES * sizeof(float), cudaMemcpyDeviceToHost),
            "copy h_torque");

    if (!writeFile("data/torque.bin", h_torque)) return 1;
    cudaFree(d_speed_axis);
    cudaFree(d_load_axis);
    cudaFree(d_map);
    cudaFree(d_speed);
    cudaFree(d_load);
    cudaFree(d_torque);
    return 0;
}
