#include <cuda_runtime.h>
#include <fstream>
#include <vector>

const int FRAMES = 100;
const int BINS = 129;

__global__ void spectral_moments(const float* magnitude, float* centroid, float* spread) {
    __shared__ float a[128], b[128];
    int t = threadIdx.x;
    const float* m = magnitude + blockIdx.x * BINS;
    float sum = 0.0f, first = 0.0f;
    for (int k = t; k < BINS; k += 128) {
        sum += m[k];
        first += k * m[k];
    }
    a[t] = sum;
    b[t] = first;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) {
            a[t] += a[t + s];
            b[t] += b[t + s];
        }
        __syncthreads();
    }
    float total = a[0];
    float centre = total > 0.0f ? b[0] / total : 0.0f;
    __syncthreads();
    float second = 0.0f;
    for (int k = t; k < BINS; k += 128) second += (k - centre) * (k - centre) * m[k];
    a[t] = second;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) a[t] += a[t + s];
        __syncthreads();
    }
    if (t == 0) {
        centroid[blockIdx.x] = centre;
        spread[blockIdx.x] = total > 0.0f ? sqrtf(a[0] / total) : 0.0f;
    }
}

int main() {
    std::vector<float> h_magnitude(FRAMES * BINS);
    std::vector<float> h_centroid(FRAMES);
    std::vector<float> h_spread(FRAMES);
    std::ifstream f_magnitude("data/magnitude.bin", std::ios::binary);
    if (!f_magnitude.read((char*)h_magnitude.data(), FRAMES * BINS * sizeof(float))) return 1;
    float *d_magnitude, *d_centroid, *d_spread;
    cudaMalloc(&d_magnitude, FRAMES * BINS * sizeof(float));
    cudaMalloc(&d_centroid, FRAMES * sizeof(float));
    cudaMalloc(&d_spread, FRAMES * sizeof(float));
    cudaMemcpy(d_magnitude, h_magnitude.data(), FRAMES * BINS * sizeof(float), cudaMemcpyHostToDevice);
    spectral_moments<<<FRAMES, 128>>>(d_magnitude, d_centroid, d_spread);
    cudaMemcpy(h_centroid.data(), d_centroid, FRAMES * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_spread.data(), d_spread, FRAMES * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/centroid.bin", std::ios::binary).write((char*)h_centroid.data(), FRAMES * sizeof(float));
    std::ofstream("data/spread.bin", std::ios::binary).write((char*)h_spread.data(), FRAMES * sizeof(float));
    return 0;
}
