#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int HEIGHT = 96;
static const int WIDTH = 130;

// Each thread walks down a strip of rows and keeps the previous, current and next row in registers.
__global__ void div_curl_strips(const float* __restrict__ u, const float* __restrict__ v,
                                float* __restrict__ div, float* __restrict__ curl, int strip) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= WIDTH) return;
    const int left = x == 0 ? WIDTH - 1 : x - 1;
    const int right = x == WIDTH - 1 ? 0 : x + 1;
    const int begin = blockIdx.y * strip;
    const int end = min(begin + strip, HEIGHT);
    const int before = begin == 0 ? HEIGHT - 1 : begin - 1;
    float u_top = u[before * WIDTH + x], v_top = v[before * WIDTH + x];
    float u_mid = u[begin * WIDTH + x], v_mid = v[begin * WIDTH + x];
    for (int y = begin; y < end; ++y) {
        const int next = y == HEIGHT - 1 ? 0 : y + 1;
        const float u_low = u[next * WIDTH + x], v_low = v[next * WIDTH + x];
        const int row = y * WIDTH;
        div[row + x] = 0.5f * ((u[row + right] - u[row + left]) + (v_low - v_top));
        curl[row + x] = 0.5f * ((v[row + right] - v[row + left]) - (u_low - u_top));
        u_top = u_mid; v_top = v_mid;
        u_mid = u_low; v_mid = v_low;
    }
}

void launch(const float* d_u, const float* d_v, float* d_divergence, float* d_vorticity) {
    const int strip = 16;
    dim3 grid((WIDTH + 127) / 128, (HEIGHT + strip - 1) / strip);
    div_curl_strips<<<grid, 128>>>(d_u, d_v, d_divergence, d_vorticity, strip);
}

int main() {
    const int elements = HEIGHT * WIDTH;
    std::vector<float> h_u(elements);
    std::vector<float> h_v(elements);
    std::vector<float> h_divergence(elements);
    std::vector<float> h_vorticity(elements);
    FILE* f = fopen("data/u.bin", "rb");
    if (!f || fread(h_u.data(), sizeof(float), h_u.size(), f) != h_u.size()) {
        fprintf(stderr, "error reading u\n");
        return EXIT_FAILURE;
    }
    fclose(f);
    f = fopen("data/v.bin", "rb");
    if (!f || fread(h_v.data(), sizeof(float), h_v.size(), f) != h_v.size()) {
        fprintf(stderr, "error reading v\n");
        return EXIT_FAILURE;
    }
    fclose(f);

    float* d_u;
    float* d_v;
    float* d_divergence;
    float* d_vorticity;
    cudaMalloc(&d_u, elements * sizeof(float));
    cudaMalloc(&d_v, elements * sizeof(float));
    cudaMalloc(&d_divergence, elements * sizeof(float));
    cudaMalloc(&d_vorticity, elements * sizeof(float));
    cudaMemcpy(d_u, h_u.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, h_v.data(), elements * sizeof(float), cudaMemcpyHostToDevice);

    launch(d_u, d_v, d_divergence, d_vorticity);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    cudaMemcpy(h_divergence.data(), d_divergence, elements * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_vorticity.data(), d_vorticity, elements * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/divergence.bin", "wb");
    if (!f || fwrite(h_divergence.data(), sizeof(float), h_divergence.size(),
            f) != h_divergence.size()) return EXIT_FAILURE;
    fclose(f);
    f = fopen("data/vorticity.bin", "wb");
    if (!f || fwrite(h_vorticity.data(), sizeof(float), h_vorticity.size(),
            f) != h_vorticity.size()) return EXIT_FAILURE;
    fclose(f);
    cudaFree(d_u);
    cudaFree(d_v);
    cudaFree(d_divergence);
    cudaFree(d_vorticity);
    return 0;
}
