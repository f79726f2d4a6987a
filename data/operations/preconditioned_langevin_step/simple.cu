#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

const int kChains = 8;
const int kDim = 1500;
const int kTotal = kChains * kDim;

static void checkCuda(cudaError_t status, const char* where) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}

static bool readFile(const char* path, void* ptr, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(ptr, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool writeFile(const char* path, const void* ptr, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(ptr, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

__global__ void langevin(const float* theta, const float* grad, const float* noise, const float* second,
                         const float* rate, float* theta_out, float* second_out, int chains, int dim) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chains * dim) return;
    float h = rate[i / dim];
    float s = 0.99f * second[i] + 0.01f * grad[i] * grad[i];
    float p = 1.0f / (sqrtf(s) + 1e-5f);
    second_out[i] = s;
    theta_out[i] = theta[i] - 0.5f * h * p * grad[i] + sqrtf(h * p) * noise[i];
}

int main() {
    std::vector<float> h_theta(kTotal);
    std::vector<float> h_grad(kTotal);
    std::vector<float> h_noise(kTotal);
    std::vector<float> h_second(kTotal);
    std::vector<float> h_rate(kChains);
    std::vector<float> h_theta_out(kTotal);
    std::vector<float> h_second_out(kTotal);
    if (!readFile("data/theta.bin", h_theta.data(), kTotal * sizeof(float))) {
        fprintf(stderr, "cannot read data/theta.bin\n");
        return 1;
    }
    if (!readFile("data/grad.bin", h_grad.data(), kTotal * sizeof(float))) {
        fprintf(stderr, "cannot read data/grad.bin\n");
        return 1;
    }
    if (!readFile("data/noise.bin", h_noise.data(), kTotal * sizeof(float))) {
        fprintf(stderr, "cannot read data/noise.bin\n");
        return 1;
    }
    if (!readFile("data/second.bin", h_second.data(), kTotal * sizeof(float))) {
        fprintf(stderr, "cannot read data/second.bin\n");
        return 1;
    }
    if (!readFile("data/rate.bin", h_rate.data(), kChains * sizeof(float))) {
        fprintf(stderr, "cannot read data/rate.bin\n");
        return 1;
    }

    float *d_theta, *d_grad, *d_noise, *d_second, *d_rate, *d_theta_out, *d_second_out;
    checkCuda(cudaMalloc(&d_theta, kTotal * sizeof(float)), "allocating theta");
    checkCuda(cudaMalloc(&d_grad, kTotal * sizeof(float)), "allocating grad");
    checkCuda(cudaMalloc(&d_noise, kTotal * sizeof(float)), "allocating noise");
    checkCuda(cudaMalloc(&d_second, kTotal * sizeof(float)), "allocating second");
    checkCuda(cudaMalloc(&d_rate, kChains * sizeof(float)), "allocating rate");
    checkCuda(cudaMalloc(&d_theta_out, kTotal * sizeof(float)), "allocating theta_out");
    checkCuda(cudaMalloc(&d_second_out, kTotal * sizeof(float)), "allocating second_out");
    checkCuda(cudaMemcpy(d_theta, h_theta.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice), "copy theta in");
    checkCuda(cudaMemcpy(d_grad, h_grad.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice), "copy grad in");
    checkCuda(cudaMemcpy(d_noise, h_noise.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice), "copy noise in");
    checkCuda(cudaMemcpy(d_second, h_second.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice),
            "copy second in");
    checkCuda(cudaMemcpy(d_rate, h_rate.data(), kChains * sizeof(float), cudaMemcpyHostToDevice), "copy rate in");

    langevin<<<(kTotal + 255) / 256, 256>>>(d_theta, d_grad, d_noise, d_second, d_rate, d_theta_out, d_second_out,
                                                kChains, kDim);
    checkCuda(cudaGetLastError(), "kernel");

    checkCuda(cudaMemcpy(h_theta_out.data(), d_theta_out, kTotal * sizeof(float), cudaMemcpyDeviceToHost),
            "download theta_out");
    checkCuda(cudaMemcpy(h_second_out.data(), d_second_out, kTotal * sizeof(float), cudaMemcpyDeviceToHost),
            "download second_out");
    if (!writeFile("data/theta_out.bin", h_theta_out.data(), kTotal * sizeof(float))) {
        fprintf(stderr, "cannot write data/theta_out.bin\n");
        return 1;
    }
    if (!writeFile("data/second_out.bin", h_second_out.data(), kTotal * sizeof(float))) {
        fprintf(stderr, "cannot write data/second_out.bin\n");
        return 1;
    }
    cudaFree(d_theta);
    cudaFree(d_grad);
    cudaFree(d_noise);
    cudaFree(d_second);
    cudaFree(d_rate);
    cudaFree(d_theta_out);
    cudaFree(d_second_out);
    return 0;
}
