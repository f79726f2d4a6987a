#include <cfloat>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int OBJECTS = 40;
const int SIZE = 300;
const int BLOCK = 256;

__global__ void bounding_sphere(const float* points, float* spheres) {
    __shared__ float lo[3][BLOCK], hi[3][BLOCK];
    int t = threadIdx.x;
    const float* p = points + (size_t)blockIdx.x * SIZE * 3;
    for (int k = 0; k < 3; ++k) {
        lo[k][t] = FLT_MAX;
        hi[k][t] = -FLT_MAX;
        for (int j = t; j < SIZE; j += BLOCK) {
            lo[k][t] = fminf(lo[k][t], p[3 * j + k]);
            hi[k][t] = fmaxf(hi[k][t], p[3 * j + k]);
        }
    }
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) {
            for (int k = 0; k < 3; ++k) {
                lo[k][t] = fminf(lo[k][t], lo[k][t + s]);
                hi[k][t] = fmaxf(hi[k][t], hi[k][t + s]);
            }
        }
        __syncthreads();
    }
    float cx = 0.5f * (lo[0][0] + hi[0][0]);
    float cy = 0.5f * (lo[1][0] + hi[1][0]);
    float cz = 0.5f * (lo[2][0] + hi[2][0]);
    __syncthreads();

    float far = 0.0f;
    for (int j = t; j < SIZE; j += BLOCK) {
        float dx = p[3 * j] - cx, dy = p[3 * j + 1] - cy, dz = p[3 * j + 2] - cz;
        far = fmaxf(far, dx * dx + dy * dy + dz * dz);
    }
    lo[0][t] = far;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) lo[0][t] = fmaxf(lo[0][t], lo[0][t + s]);
        __syncthreads();
    }
    if (t == 0) {
        float* out = spheres + 4 * blockIdx.x;
        out[0] = cx;
        out[1] = cy;
        out[2] = cz;
        out[3] = sqrtf(lo[0][0]);
    }
}

int main() {
    std::vector<float> h_points(OBJECTS * SIZE * 3);
    std::vector<float> h_spheres(OBJECTS * 4);

    std::ifstream input("data/points.bin", std::ios::binary);
    input.read(reinterpret_cast<char*>(h_points.data()), h_points.size() * sizeof(float));
    if (!input) {
        std::cerr << "failed to read data/points.bin" << std::endl;
        return 1;
    }

    float* d_points = nullptr;
    float* d_spheres = nullptr;
    cudaMalloc(&d_points, OBJECTS * SIZE * 3 * sizeof(float));
    cudaMalloc(&d_spheres, OBJECTS * 4 * sizeof(float));
    cudaMemcpy(d_points, h_points.data(), OBJECTS * SIZE * 3 * sizeof(float), cudaMemcpyHostToDevice);

    bounding_sphere<<<OBJECTS, BLOCK>>>(d_points, d_spheres);

    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaMemcpy(h_spheres.data(), d_spheres, OBJECTS * 4 * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream output("data/spheres.bin", std::ios::binary);
    output.write(reinterpret_cast<const char*>(h_spheres.data()), OBJECTS * 4 * sizeof(float));

    cudaFree(d_points);
    cudaFree(d_spheres);
    return 0;
}
