#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int PIXELS = 800;
const int BANDS = 24;
const int WARPS = 4;

// A warp evaluates one pixel; the trapezoidal rule becomes a weighted sum over single bands.
__global__ void planck_warps(const float* __restrict__ temperature, const float* __restrict__ wavelength,
                             float* __restrict__ radiance, float* __restrict__ total) {
    __shared__ float scale[BANDS], exponent[BANDS], weight[BANDS];
    for (int j = threadIdx.x; j < BANDS; j += 32 * WARPS) {
        float w = wavelength[j];
        float left = j > 0 ? wavelength[j - 1] : w;
        float right = j + 1 < BANDS ? wavelength[j + 1] : w;
        float w2 = w * w;
        scale[j] = 1.191043e8f / (w2 * w2 * w);
        exponent[j] = 14387.77f / w;
        weight[j] = 0.5f * (right - left);
    }
    __syncthreads();
    int pixel = blockIdx.x * WARPS + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (pixel >= PIXELS) return;
    float inv = 1.0f / temperature[pixel];
    float sum = 0.0f;
    for (int j = lane; j < BANDS; j += 32) {
        float b = scale[j] / expm1f(exponent[j] * inv);
        radiance[(size_t)pixel * BANDS + j] = b;
        sum += weight[j] * b;
    }
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (lane == 0) total[pixel] = sum;
}

int main() {
    std::vector<float> temperature(PIXELS), wavelength(BANDS), radiance(PIXELS * BANDS), total(PIXELS);
    std::ifstream in_temperature("data/temperature.bin", std::ios::binary);
    if (!in_temperature.read((char*)temperature.data(), PIXELS * sizeof(float))) return 1;
    std::ifstream in_wavelength("data/wavelength.bin", std::ios::binary);
    if (!in_wavelength.read((char*)wavelength.data(), BANDS * sizeof(float))) return 1;
    float *d_temperature, *d_wavelength, *d_radiance, *d_total;
    cudaMalloc(&d_temperature, PIXELS * sizeof(float));
    cudaMalloc(&d_wavelength, BANDS * sizeof(float));
    cudaMalloc(&d_radiance, PIXELS * BANDS * sizeof(float));
    cudaMalloc(&d_total, PIXELS * sizeof(float));
    cudaMemcpy(d_temperature, temperature.data(), PIXELS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_wavelength, wavelength.data(), BANDS * sizeof(float), cudaMemcpyHostToDevice);
    planck_warps<<<(PIXELS + WARPS - 1) / WARPS, WARPS * 32>>>(d_temperature, d_wavelength, d_radiance, d_total);
    cudaMemcpy(radiance.data(), d_radiance, PIXELS * BANDS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(total.data(), d_total, PIXELS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/radiance.bin", std::ios::binary).write((char*)radiance.data(),
        PIXELS * BANDS * sizeof(float));
    std::ofstream("data/total.bin", std::ios::binary).write((char*)total.data(), PIXELS * sizeof(float));
    return 0;
}
