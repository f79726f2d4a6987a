#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 400;

__global__ void contacts_kernel(const float* spheres, int* contacts, float* deepest) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kN) return;
    float x = spheres[4 * i], y = spheres[4 * i + 1], z = spheres[4 * i + 2], r = spheres[4 * i + 3];
    int count = 0;
    float deep = 0.0f;
    for (int j = 0; j < kN; ++j) {
        if (j == i) continue;
        float dx = spheres[4 * j] - x;
        float dy = spheres[4 * j + 1] - y;
        float dz = spheres[4 * j + 2] - z;
        float depth = r + spheres[4 * j + 3] - sqrtf(dx * dx + dy * dy + dz * dz);
        if (depth > 0.0f) {
            ++count;
            deep = fmaxf(deep, depth);
        }
    }
    contacts[i] = count;
    deepest[i] = deep;
}

void solve(const float* d_spheres, int* d_contacts, float* d_deepest) {
    int block = 128;
    contacts_kernel<<<(kN + block - 1) / block, block>>>(d_spheres, d_contacts, d_deepest);
}

int main() {
    std::vector<float> h_spheres(kN * 4);
    std::vector<int> h_contacts(kN);
    std::vector<float> h_deepest(kN);
    FILE* f = fopen("data/spheres.bin", "rb");
    if (!f || fread(h_spheres.data(), sizeof(float), h_spheres.size(), f) != h_spheres.size()) {
        fprintf(stderr, "cannot read data/spheres.bin\n");
        return 1;
    }
    fclose(f);

    float* d_spheres = nullptr;
    int* d_contacts = nullptr;
    float* d_deepest = nullptr;
    cudaMalloc(&d_spheres, sizeof(float) * kN * 4);
    cudaMalloc(&d_contacts, sizeof(int) * kN);
    cudaMalloc(&d_deepest, sizeof(float) * kN);
    cudaMemcpy(d_spheres, h_spheres.data(), sizeof(float) * kN * 4, cudaMemcpyHostToDevice);

    solve(d_spheres, d_contacts, d_deepest);

    cudaMemcpy(h_contacts.data(), d_contacts, sizeof(int) * kN, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_deepest.data(), d_deepest, sizeof(float) * kN, cudaMemcpyDeviceToHost);
    f = fopen("data/contacts.bin", "wb");
    fwrite(h_contacts.data(), sizeof(int), h_contacts.size(), f);
    fclose(f);
    f = fopen("data/deepest.bin", "wb");
    fwrite(h_deepest.data(), sizeof(float), h_deepest.size(), f);
    fclose(f);

    cudaFree(d_spheres);
    cudaFree(d_contacts);
    cudaFree(d_deepest);
    return 0;
}
