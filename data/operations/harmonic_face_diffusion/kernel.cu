#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define NY 100
#define NX 150

#define TX 32
#define TY 8

// A tile with a border of one cell; outside of the grid the conductivity is 0, so that nothing flows.
__global__ void diffusion_tile(const float* u, const float* k, float* out) {
    __shared__ float su[TY + 2][TX + 2], sk[TY + 2][TX + 2];
    int x0 = blockIdx.x * TX - 1, y0 = blockIdx.y * TY - 1;
    for (int t = threadIdx.y * TX + threadIdx.x; t < (TX + 2) * (TY + 2); t += TX * TY) {
        int x = x0 + t % (TX + 2), y = y0 + t / (TX + 2);
        bool in = x >= 0 && y >= 0 && x < NX && y < NY;
        su[t / (TX + 2)][t % (TX + 2)] = in ? u[y * NX + x] : 0.0f;
        sk[t / (TX + 2)][t % (TX + 2)] = in ? k[y * NX + x] : 0.0f;
    }
    __syncthreads();
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    int x = x0 + lx, y = y0 + ly;
    if (x >= NX || y >= NY) return;
    const int dx[4] = {-1, 1, 0, 0}, dy[4] = {0, 0, -1, 1};
    float kc = sk[ly][lx], uc = su[ly][lx], sum = 0.0f;
    for (int d = 0; d < 4; ++d) {
        float kn = sk[ly + dy[d]][lx + dx[d]];
        sum += 2.0f * kn * kc / (kn + kc) * (su[ly + dy[d]][lx + dx[d]] - uc);
    }
    out[y * NX + x] = sum;
}

int main() {
    const int num = NY * NX;
    std::vector<float> h_field(num), h_conductivity(num), h_flux_sum(num);
    std::ifstream in0("data/field.bin", std::ios::binary);
    if (!in0.read((char*)h_field.data(), num * sizeof(float))) return 1;
    std::ifstream in1("data/conductivity.bin", std::ios::binary);
    if (!in1.read((char*)h_conductivity.data(), num * sizeof(float))) return 1;
    float *d_field, *d_conductivity, *d_flux_sum;
    cudaMalloc(&d_field, num * sizeof(float));
    cudaMalloc(&d_conductivity, num * sizeof(float));
    cudaMalloc(&d_flux_sum, num * sizeof(float));
    cudaMemcpy(d_field, h_field.data(), num * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_conductivity, h_conductivity.data(), num * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(TX, TY);
    dim3 grid((NX + TX - 1) / TX, (NY + TY - 1) / TY);
    diffusion_tile<<<grid, block>>>(d_field, d_conductivity, d_flux_sum);
    cudaMemcpy(h_flux_sum.data(), d_flux_sum, num * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/flux_sum.bin", std::ios::binary).write((char*)h_flux_sum.data(), num * sizeof(float));
    return 0;
}
