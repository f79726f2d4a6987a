#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 30;
constexpr int kCols = 40;
constexpr int kTile = 16;
constexpr int kSteps = 4;
constexpr int kNumbers = kRows * kCols * 3;

inline void ensure(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
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

// A tile of positions with a border of one particle lies in shared memory, one plane for each coordinate.
__global__ void clothTile(const float* __restrict__ p, float* __restrict__ pNext,
                          const float* vIn, float* vOut) {
    __shared__ float s[3][kTile + 2][kTile + 2];
    const int r0 = (int)blockIdx.y * kTile - 1, c0 = (int)blockIdx.x * kTile - 1;
    for (int k = threadIdx.y * kTile + threadIdx.x; k < (kTile + 2) * (kTile + 2); k += kTile * kTile) {
        int r = min(max(r0 + k / (kTile + 2), 0), kRows - 1);
        int c = min(max(c0 + k % (kTile + 2), 0), kCols - 1);
        for (int a = 0; a < 3; ++a) s[a][k / (kTile + 2)][k % (kTile + 2)] = p[3 * (r * kCols + c) + a];
    }
    __syncthreads();
    const int y = threadIdx.y + 1, x = threadIdx.x + 1;
    const int r = r0 + y, c = c0 + x;
    if (r >= kRows || c >= kCols) return;
    const int i = 3 * (r * kCols + c);
    const int dr[4] = {-1, 1, 0, 0}, dc[4] = {0, 0, -1, 1};
    float f[3] = {-0.5f * vIn[i], -0.5f * vIn[i + 1], -0.5f * vIn[i + 2] - 9.81f};
    for (int n = 0; n < 4; ++n) {
        if (r + dr[n] < 0 || r + dr[n] >= kRows || c + dc[n] < 0 || c + dc[n] >= kCols) continue;
        float dx = s[0][y + dr[n]][x + dc[n]] - s[0][y][x];
        float dy = s[1][y + dr[n]][x + dc[n]] - s[1][y][x];
        float dz = s[2][y + dr[n]][x + dc[n]] - s[2][y][x];
        float pull = 80.0f - 80.0f * rsqrtf(dx * dx + dy * dy + dz * dz);
        f[0] += pull * dx;
        f[1] += pull * dy;
        f[2] += pull * dz;
    }
    for (int a = 0; a < 3; ++a) {
        float move = r > 0 ? 0.01f * f[a] : 0.0f;
        float v = vIn[i + a] + move;
        vOut[i + a] = v;
        pNext[i + a] = r > 0 ? s[a][y][x] + 0.01f * v : s[a][y][x];
    }
}

int main() {
    std::vector<float> h_position(kNumbers), h_velocity(kNumbers), h_new_position(kNumbers),
            h_new_velocity(kNumbers);
    if (!readFile("data/position.bin", h_position) || !readFile("data/velocity.bin", h_velocity)) {
        fprintf(stderr, "cannot read inputs\n");
        return 1;
    }

    float* d_position = nullptr;
    float* d_velocity = nullptr;
    float* d_new_position = nullptr;
    float* d_new_velocity = nullptr;
    float* d_middle = nullptr;
    ensure(cudaMalloc(&d_position, kNumbers * sizeof(float)), "device memory for position");
    ensure(cudaMemcpy(d_position, h_position.data(), kNumbers * sizeof(float), cudaMemcpyHostToDevice),
            "copy position");
    ensure(cudaMalloc(&d_velocity, kNumbers * sizeof(float)), "device memory for velocity");
    ensure(cudaMemcpy(d_velocity, h_velocity.data(), kNumbers * sizeof(float), cudaMemcpyHostToDevice),
            "copy velocity");
    ensure(cudaMalloc(&d_new_position, kNumbers * sizeof(float)), "device memory for new_position");
    ensure(cudaMalloc(&d_new_velocity, kNumbers * sizeof(float)), "device memory for new_velocity");
    ensure(cudaMalloc(&d_middle, kNumbers * sizeof(float)), "device memory for middle");

    dim3 block(kTile, kTile);
    dim3 grid((kCols + kTile - 1) / kTile, (kRows + kTile - 1) / kTile);
    clothTile<<<grid, block>>>(d_position, d_middle, d_velocity, d_new_velocity);
    for (int step = 1; step < kSteps; ++step) {
        float* from = step % 2 ? d_middle : d_new_position;
        float* to = step % 2 ? d_new_position : d_middle;
        clothTile<<<grid, block>>>(from, to, d_new_velocity, d_new_velocity);
    }
    ensure(cudaGetLastError(), "kernel");
    ensure(cudaDeviceSynchronize(), "run");
    ensure(cudaMemcpy(h_new_position.data(), d_new_position, kNumbers * sizeof(float),
            cudaMemcpyDeviceToHost), "copy new_position back");
    ensure(cudaMemcpy(h_new_velocity.data(), d_new_velocity, kNumbers * sizeof(float),
            cudaMemcpyDeviceToHost), "copy new_velocity back");

    cudaFree(d_position);
    cudaFree(d_velocity);
    cudaFree(d_new_position);
    cudaFree(d_new_velocity);
    cudaFree(d_middle);

    if (!writeFile("data/new_position.bin", h_new_position)) return 1;
    if (!writeFile("data/new_velocity.bin", h_new_velocity)) return 1;
    return 0;
}
