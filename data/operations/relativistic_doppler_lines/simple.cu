#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int SOURCES = 500;
constexpr int LINES = 40;
constexpr int TOTAL = SOURCES * LINES;

__global__ void dopplerShift(const float* beta, const float* cosine, const float* wavelength,
                             float* observed, float* redshift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= TOTAL) return;
    int s = i / LINES;
    int l = i % LINES;
    float factor = (1.0f + beta[s] * cosine[s]) / sqrtf(1.0f - beta[s] * beta[s]);
    observed[i] = factor * wavelength[l];
    if (l == 0) redshift[s] = factor - 1.0f;
}

void solve(const float* d_beta, const float* d_cosine, const float* d_wavelength, float* d_observed,
        float* d_redshift) {
    dopplerShift<<<(TOTAL + 255) / 256, 256>>>(d_beta, d_cosine, d_wavelength, d_observed, d_redshift);
    cudaDeviceSynchronize();
}

int main() {
    std::vector<float> host_beta(SOURCES);
    std::vector<float> host_cosine(SOURCES);
    std::vector<float> host_wavelength(LINES);
    std::vector<float> host_observed(TOTAL);
    std::vector<float> host_redshift(SOURCES);
    FILE* in0 = fopen("data/beta.bin", "rb");
    if (!in0 || fread(host_beta.data(), sizeof(float), host_beta.size(), in0) != host_beta.size()) {
        fprintf(stderr, "cannot read data/beta.bin\n");
        return 1;
    }
    fclose(in0);
    FILE* in1 = fopen("data/cosine.bin", "rb");
    if (!in1 || fread(host_cosine.data(), sizeof(float), host_cosine.size(), in1) != host_cosine.size()) {
        fprintf(stderr, "cannot read data/cosine.bin\n");
        return 1;
    }
    fclose(in1);
    FILE* in2 = fopen("data/wavelength.bin", "rb");
    if (!in2 || fread(host_wavelength.data(), sizeof(float), host_wavelength.size(),
            in2) != host_wavelength.size()) {
        fprintf(stderr, "cannot read data/wavelength.bin\n");
        return 1;
    }
    fclose(in2);

    float* d_beta = nullptr;
    float* d_cosine = nullptr;
    float* d_wavelength = nullptr;
    float* d_observed = nullptr;
    float* d_redshift = nullptr;
    cudaMalloc(&d_beta, SOURCES * sizeof(float));
    cudaMalloc(&d_cosine, SOURCES * sizeof(float));
    cudaMalloc(&d_wavelength, LINES * sizeof(float));
    cudaMalloc(&d_observed, TOTAL * sizeof(float));
    cudaMalloc(&d_redshift, SOURCES * sizeof(float));
    cudaMemcpy(d_beta, host_beta.data(), SOURCES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_cosine, host_cosine.data(), SOURCES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_wavelength, host_wavelength.data(), LINES * sizeof(float), cudaMemcpyHostToDevice);
    solve(d_beta, d_cosine, d_wavelength, d_observed, d_redshift);
    cudaMemcpy(host_observed.data(), d_observed, TOTAL * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_redshift.data(), d_redshift, SOURCES * sizeof(float), cudaMemcpyDeviceToHost);

    FILE* out0 = fopen("data/observed.bin", "wb");
    fwrite(host_observed.data(), sizeof(float), host_observed.size(), out0);
    fclose(out0);
    FILE* out1 = fopen("data/redshift.bin", "wb");
    fwrite(host_redshift.data(), sizeof(float), host_redshift.size(), out1);
    fclose(out1);

    cudaFree(d_beta);
    cudaFree(d_cosine);
    cudaFree(d_wavelength);
    cudaFree(d_observed);
    cudaFree(d_redshift);
    return 0;
}
