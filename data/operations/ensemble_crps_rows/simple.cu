#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int CASES = 300;
constexpr int MEMBERS = 20;

__global__ void crps_kernel(const float* ensemble, const float* observed, float* crps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= CASES) return;
    const float* x = ensemble + (size_t)i * MEMBERS;
    float error = 0.0f, spread = 0.0f;
    for (int j = 0; j < MEMBERS; j++) {
        error += fabsf(x[j] - observed[i]);
        float sum = 0.0f;
        for (int k = j + 1; k < MEMBERS; k++) sum += fabsf(x[j] - x[k]);
        spread += sum;
    }
    crps[i] = error / MEMBERS - spread / ((float)MEMBERS * MEMBERS);
}

int main() {
    std::vector<float> h_ensemble(CASES * MEMBERS);
    std::vector<float> h_observed(CASES);
    std::vector<float> h_crps(CASES);
    std::ifstream ensemble_in("data/ensemble.bin", std::ios::binary);
    ensemble_in.read(reinterpret_cast<char*>(h_ensemble.data()), CASES * MEMBERS * sizeof(float));
    std::ifstream observed_in("data/observed.bin", std::ios::binary);
    observed_in.read(reinterpret_cast<char*>(h_observed.data()), CASES * sizeof(float));
    if (!ensemble_in || !observed_in) {
        std::cerr << "input files are missing or too short\n";
        return 1;
    }

    float *d_ensemble, *d_observed, *d_crps;
    cudaMalloc(&d_ensemble, CASES * MEMBERS * sizeof(float));
    cudaMalloc(&d_observed, CASES * sizeof(float));
    cudaMalloc(&d_crps, CASES * sizeof(float));
    cudaMemcpy(d_ensemble, h_ensemble.data(), CASES * MEMBERS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_observed, h_observed.data(), CASES * sizeof(float), cudaMemcpyHostToDevice);

    crps_kernel<<<(CASES + 63) / 64, 64>>>(d_ensemble, d_observed, d_crps);

    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_crps.data(), d_crps, CASES * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/crps.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(h_crps.data()), CASES * sizeof(float));
    cudaFree(d_ensemble);
    cudaFree(d_observed);
    cudaFree(d_crps);
    return 0;
}
