#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int N = 3000;

__global__ void to_matrix(const float* quaternions, float* matrices) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float x = quaternions[4 * i], y = quaternions[4 * i + 1];
    float z = quaternions[4 * i + 2], w = quaternions[4 * i + 3];
    float norm = x * x + y * y + z * z + w * w;
    float s = norm > 0.0f ? 2.0f / norm : 0.0f;
    float* m = matrices + 9 * i;
    m[0] = 1.0f - s * (y * y + z * z);
    m[1] = s * (x * y - z * w);
    m[2] = s * (x * z + y * w);
    m[3] = s * (x * y + z * w);
    m[4] = 1.0f - s * (x * x + z * z);
    m[5] = s * (y * z - x * w);
    m[6] = s * (x * z - y * w);
    m[7] = s * (y * z + x * w);
    m[8] = 1.0f - s * (x * x + y * y);
}

int main() {
    std::vector<float> quaternions(N * 4), matrices(N * 9);
    std::ifstream input("data/quaternions.bin", std::ios::binary);
    if (!input.read((char*)quaternions.data(), N * 4 * sizeof(float))) return 1;
    float* d_quaternions = nullptr;
    float* d_matrices = nullptr;
    cudaMalloc(&d_quaternions, N * 4 * sizeof(float));
    cudaMalloc(&d_matrices, N * 9 * sizeof(float));
    cudaMemcpy(d_quaternions, quaternions.data(), N * 4 * sizeof(float), cudaMemcpyHostToDevice);
    to_matrix<<<(N + 255) / 256, 256>>>(d_quaternions, d_matrices);
    cudaMemcpy(matrices.data(), d_matrices, N * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/matrices.bin", std::ios::binary).write((char*)matrices.data(), N * 9 * sizeof(float));
    return 0;
}
