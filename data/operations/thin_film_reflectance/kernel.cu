#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

#define FILMS 100
#define WAVES 200
const int BLOCK = 128;

// A block treats one film: what depends on the film alone is computed by one thread and shared.
__global__ void film_rows(const float* __restrict__ thickness, const float* __restrict__ index_film,
                          const float* __restrict__ wavelength, float* __restrict__ reflectance) {
    __shared__ float path, cross, sum, product;
    int film = blockIdx.x;
    if (threadIdx.x == 0) {
        float n = index_film[film];
        float a = (1.0f - n) / (1.0f + n);
        float b = (n - 1.52f) / (n + 1.52f);
        path = 12.5663706f * n * thickness[film];
        cross = 2.0f * a * b;
        sum = a * a + b * b;
        product = a * a * b * b;
    }
    __syncthreads();
    float* row = reflectance + (size_t)film * WAVES;
    for (int w = threadIdx.x; w < WAVES; w += BLOCK) {
        float mix = cross * cosf(path / wavelength[w]);
        row[w] = (sum + mix) / (1.0f + product + mix);
    }
}

int main() {
    float *thickness, *index_film, *wavelength, *reflectance;
    cudaMallocManaged(&thickness, FILMS * sizeof(float));
    cudaMallocManaged(&index_film, FILMS * sizeof(float));
    cudaMallocManaged(&wavelength, WAVES * sizeof(float));
    cudaMallocManaged(&reflectance, FILMS * WAVES * sizeof(float));

    std::ifstream in_thickness("data/thickness.bin", std::ios::binary);
    if (!in_thickness.read((char*)thickness, FILMS * sizeof(float))) {
        std::cerr << "cannot read data/thickness.bin\n";
        return 1;
    }
    std::ifstream in_index_film("data/index_film.bin", std::ios::binary);
    if (!in_index_film.read((char*)index_film, FILMS * sizeof(float))) {
        std::cerr << "cannot read data/index_film.bin\n";
        return 1;
    }
    std::ifstream in_wavelength("data/wavelength.bin", std::ios::binary);
    if (!in_wavelength.read((char*)wavelength, WAVES * sizeof(float))) {
        std::cerr << "cannot read data/wavelength.bin\n";
        return 1;
    }

    film_rows<<<FILMS, BLOCK>>>(thickness, index_film, wavelength, reflectance);

    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }

    std::ofstream out("data/reflectance.bin", std::ios::binary);
    out.write((const char*)reflectance, FILMS * WAVES * sizeof(float));

    cudaFree(thickness);
    cudaFree(index_film);
    cudaFree(wavelength);
    cudaFree(reflectance);
    return 0;
}
