#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>

void load(const char* path, float* buf, size_t n) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream.read((char*)buf, n * sizeof(float))) {
        std::cerr << "failed to read " << path << "\n";
        std::exit(1);
    }
}

void save(const char* path, const float* buf, size_t n) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buf), n * sizeof(float));
}
//@given

static const int SOURCES = 500;
static const int LINES = 40;
static const int PER_BLOCK = 16;
static const int THREADS = 128;

// A block handles 16 sources: their factors are found once, then the block's part of the matrix is filled in order.
__global__ void shift_rows(const float* __restrict__ beta, const float* __restrict__ cosine,
                           const float* __restrict__ wavelength, float* __restrict__ observed,
                           float* __restrict__ redshift) {
    __shared__ float factor[PER_BLOCK];
    const int first = blockIdx.x * PER_BLOCK;
    const int count = min(PER_BLOCK, SOURCES - first);
    if (threadIdx.x < count) {
        float b = beta[first + threadIdx.x];
        float d = fmaf(b, cosine[first + threadIdx.x], 1.0f) * rsqrtf((1.0f - b) * (1.0f + b));
        factor[threadIdx.x] = d;
        redshift[first + threadIdx.x] = d - 1.0f;
    }
    __syncthreads();
    float* out = observed + (size_t)first * LINES;
    for (int k = threadIdx.x; k < count * LINES; k += THREADS) {
        out[k] = factor[k / LINES] * wavelength[k % LINES];
    }
}

int main() {
    float* h_beta = new float[SOURCES];
    float* h_cosine = new float[SOURCES];
    float* h_wavelength = new float[LINES];
    float* h_observed = new float[SOURCES * LINES];
    float* h_redshift = new float[SOURCES];
    load("data/beta.bin", h_beta, SOURCES);
    load("data/cosine.bin", h_cosine, SOURCES);
    load("data/wavelength.bin", h_wavelength, LINES);

    float *d_beta, *d_cosine, *d_wavelength, *d_observed, *d_redshift;
    cudaMalloc(&d_beta, SOURCES * sizeof(float));
    cudaMemcpy(d_beta, h_beta, SOURCES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_cosine, SOURCES * sizeof(float));
    cudaMemcpy(d_cosine, h_cosine, SOURCES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_wavelength, LINES * sizeof(float));
    cudaMemcpy(d_wavelength, h_wavelength, LINES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_observed, SOURCES * LINES * sizeof(float));
    cudaMalloc(&d_redshift, SOURCES * sizeof(float));

    shift_rows<<<(SOURCES + PER_BLOCK - 1) / PER_BLOCK, THREADS>>>(d_beta, d_cosine, d_wavelength,
            d_observed, d_redshift);
    cudaMemcpy(h_observed, d_observed, SOURCES * LINES * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_redshift, d_redshift, SOURCES * sizeof(float), cudaMemcpyDeviceToHost);

    save("data/observed.bin", h_observed, SOURCES * LINES);
    save("data/redshift.bin", h_redshift, SOURCES);

    cudaFree(d_beta);
    cudaFree(d_cosine);
    cudaFree(d_wavelength);
    cudaFree(d_observed);
    cudaFree(d_redshift);
    delete[] h_beta;
    delete[] h_cosine;
    delete[] h_wavelength;
    delete[] h_observed;
    delete[] h_redshift;
    return 0;
}
