#include <fstream>
#include <vector>
#include <cuda_runtime.h>

constexpr int N = 5000;

__global__ void spherical_kernel(const float* xyz, float* spherical, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xyz[3 * i], y = xyz[3 * i + 1], z = xyz[3 * i + 2];
    float flat = sqrtf(x * x + y * y);
    float phi = atan2f(y, x);
    if (phi < 0.0f) phi += 6.2831853f;
    spherical[3 * i] = sqrtf(x * x + y * y + z * z);
    spherical[3 * i + 1] = atan2f(flat, z);
    spherical[3 * i + 2] = phi;
}

int main() {
    const size_t xyz_len = N * 3;
    const size_t nbytes = xyz_len * sizeof(float);
    std::vector<float> xyz(xyz_len);
    std::vector<float> spherical(xyz_len);
    if (!std::ifstream("data/xyz.bin", std::ios::binary).read((char*)xyz.data(), nbytes)) return 1;
    float *d_xyz, *d_spherical;
    cudaMalloc(&d_xyz, nbytes);
    cudaMalloc(&d_spherical, nbytes);
    cudaMemcpy(d_xyz, xyz.data(), nbytes, cudaMemcpyHostToDevice);
    spherical_kernel<<<(N + 256 - 1) / 256, 256>>>(d_xyz, d_spherical, N);
    cudaMemcpy(spherical.data(), d_spherical, nbytes, cudaMemcpyDeviceToHost);
    std::ofstream("data/spherical.bin", std::ios::binary).write((char*)spherical.data(), nbytes);
    cudaFree(d_xyz); cudaFree(d_spherical);
    return 0;
}
