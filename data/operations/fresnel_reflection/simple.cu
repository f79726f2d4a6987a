#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int N = 6000;

__global__ void fresnel(const float* angle, const float* index_in, const float* index_out,
                        float* reflect_s, float* reflect_p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float n1 = index_in[i];
    float n2 = index_out[i];
    float c1 = cosf(angle[i]);
    float s2 = n1 / n2 * sinf(angle[i]);
    if (s2 >= 1.0f) {
        reflect_s[i] = 1.0f;
        reflect_p[i] = 1.0f;
        return;
    }
    float c2 = sqrtf(1.0f - s2 * s2);
    float rs = (n1 * c1 - n2 * c2) / (n1 * c1 + n2 * c2);
    float rp = (n1 * c2 - n2 * c1) / (n1 * c2 + n2 * c1);
    reflect_s[i] = rs * rs;
    reflect_p[i] = rp * rp;
}

int main() {
    std::vector<float> angle(N), index_in(N), index_out(N), reflect_s(N), reflect_p(N);
    std::ifstream in_angle("data/angle.bin", std::ios::binary);
    in_angle.read((char*)angle.data(), N * sizeof(float));
    if (!in_angle) { std::cerr << "data/angle.bin\n"; return 1; }
    std::ifstream in_index_in("data/index_in.bin", std::ios::binary);
    in_index_in.read((char*)index_in.data(), N * sizeof(float));
    if (!in_index_in) { std::cerr << "data/index_in.bin\n"; return 1; }
    std::ifstream in_index_out("data/index_out.bin", std::ios::binary);
    in_index_out.read((char*)index_out.data(), N * sizeof(float));
    if (!in_index_out) { std::cerr << "data/index_out.bin\n"; return 1; }
    float* d_angle;
    float* d_index_in;
    float* d_index_out;
    float* d_reflect_s;
    float* d_reflect_p;
    cudaMalloc(&d_angle, N * sizeof(float));
    cudaMalloc(&d_index_in, N * sizeof(float));
    cudaMalloc(&d_index_out, N * sizeof(float));
    cudaMalloc(&d_reflect_s, N * sizeof(float));
    cudaMalloc(&d_reflect_p, N * sizeof(float));
    cudaMemcpy(d_angle, angle.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_index_in, index_in.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_index_out, index_out.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    fresnel<<<(N + 256 - 1) / 256, 256>>>(d_angle, d_index_in, d_index_out, d_reflect_s, d_reflect_p);
    cudaMemcpy(reflect_s.data(), d_reflect_s, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(reflect_p.data(), d_reflect_p, N * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/reflect_s.bin", std::ios::binary).write((char*)reflect_s.data(), N * sizeof(float));
    std::ofstream("data/reflect_p.bin", std::ios::binary).write((char*)reflect_p.data(), N * sizeof(float));
}
