#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int NY = 80;
const int NX = 120;

__global__ void correct_u(const float* u, const float* p, float* u_new) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x > NX) return;
    float value = 0.0f;
    if (x > 0 && x < NX) value = u[y * (NX + 1) + x] - 0.4f * (p[y * NX + x] - p[y * NX + x - 1]);
    u_new[y * (NX + 1) + x] = value;
}

__global__ void correct_v(const float* v, const float* p, float* v_new) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x >= NX) return;
    float value = 0.0f;
    if (y > 0 && y < NY) value = v[y * NX + x] - 0.4f * (p[y * NX + x] - p[(y - 1) * NX + x]);
    v_new[y * NX + x] = value;
}

int main() {
    const int uElems = NY * (NX + 1);
    const int vElems = (NY + 1) * NX;
    const int pressureElems = NY * NX;
    float* u = nullptr;
    cudaMallocManaged(&u, uElems * sizeof(float));
    float* v = nullptr;
    cudaMallocManaged(&v, vElems * sizeof(float));
    float* pressure = nullptr;
    cudaMallocManaged(&pressure, pressureElems * sizeof(float));
    float* u_new = nullptr;
    cudaMallocManaged(&u_new, uElems * sizeof(float));
    float* v_new = nullptr;
    cudaMallocManaged(&v_new, vElems * sizeof(float));

    std::ifstream u_in("data/u.bin", std::ios::binary);
    u_in.read((char*)u, uElems * sizeof(float));
    if (!u_in) {
        std::cerr << "missing or short: data/u.bin\n";
        return 1;
    }
    std::ifstream v_in("data/v.bin", std::ios::binary);
    v_in.read((char*)v, vElems * sizeof(float));
    if (!v_in) {
        std::cerr << "missing or short: data/v.bin\n";
        return 1;
    }
    std::ifstream pressure_in("data/pressure.bin", std::ios::binary);
    pressure_in.read((char*)pressure, pressureElems * sizeof(float));
    if (!pressure_in) {
        std::cerr << "missing or short: data/pressure.bin\n";
        return 1;
    }

    dim3 grid_u((NX + 256) / 256, NY);
    dim3 grid_v((NX + 255) / 256, NY + 1);
    correct_u<<<grid_u, 256>>>(u, pressure, u_new);
    correct_v<<<grid_v, 256>>>(v, pressure, v_new);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    std::ofstream u_new_file("data/u_new.bin", std::ios::binary);
    u_new_file.write((char*)u_new, uElems * sizeof(float));

    std::ofstream v_new_file("data/v_new.bin", std::ios::binary);
    v_new_file.write((char*)v_new, vElems * sizeof(float));

    cudaFree(u);
    cudaFree(v);
    cudaFree(pressure);
    cudaFree(u_new);
    cudaFree(v_new);
    return 0;
}
