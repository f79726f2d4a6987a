#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int BATCH = 2;
constexpr int CHANNELS = 5;
constexpr int TIME = 900;

// One block per (batch, channel); both conditioning values stay in registers.
__global__ void gated_unit_rows(const float* __restrict__ x, const float* __restrict__ cond, float* __restrict__ z) {
    const int b = blockIdx.x / CHANNELS, c = blockIdx.x % CHANNELS;
    const int f = b * 2 * CHANNELS + c;
    const int g = f + CHANNELS;
    const float cf = cond[f], cg = cond[g];
    const float* xf = x + (size_t)f * TIME;
    const float* xg = x + (size_t)g * TIME;
    float* out = z + (size_t)blockIdx.x * TIME;
    for (int t = threadIdx.x; t < TIME; t += blockDim.x) {
        out[t] = tanhf(xf[t] + cf) * (1.0f / (1.0f + __expf(-(xg[t] + cg))));
    }
}

int main() {
    const size_t x_size = BATCH * (CHANNELS * 2) * TIME;
    const int n_cond = BATCH * (CHANNELS * 2);
    const size_t n_z = BATCH * CHANNELS * TIME;
    std::vector<float> h_x(x_size);
    std::vector<float> h_cond(n_cond);
    std::vector<float> h_z(n_z);
    FILE* f = fopen("data/x.bin", "rb");
    if (!f || fread(h_x.data(), sizeof(float), x_size, f) != x_size) return 1;
    fclose(f);
    f = fopen("data/cond.bin", "rb");
    if (!f || fread(h_cond.data(), sizeof(float), n_cond, f) != n_cond) return 1;
    fclose(f);
    float *d_x = nullptr, *d_cond = nullptr, *d_z = nullptr;
    cudaMalloc(&d_x, x_size * sizeof(float));
    cudaMalloc(&d_cond, n_cond * sizeof(float));
    cudaMalloc(&d_z, n_z * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), x_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_cond, h_cond.data(), n_cond * sizeof(float), cudaMemcpyHostToDevice);
    gated_unit_rows<<<BATCH * CHANNELS, 256>>>(d_x, d_cond, d_z);
    cudaMemcpy(h_z.data(), d_z, n_z * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/z.bin", "wb");
    fwrite(h_z.data(), sizeof(float), n_z, f);
    fclose(f);
    return 0;
}
