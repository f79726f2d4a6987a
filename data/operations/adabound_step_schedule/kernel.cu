#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void readArray(const std::string& path, float* values, size_t n) {
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(values), n * sizeof(float))) {
        std::cerr << "error reading " << path << std::endl;
        exit(1);
    }
}

void readArray(const std::string& path, int* values, size_t n) {
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(values), n * sizeof(int))) {
        std::cerr << "failed to load " << path << std::endl;
        exit(1);
    }
}

void writeArray(const std::string& path, const float* values, size_t n) {
    std::ofstream f(path, std::ios::binary);
    f.write(reinterpret_cast<const char*>(values), n * sizeof(float));
    if (!f) std::cerr << "error writing " << path << std::endl;
}
//@given

const int kN = 10007;

// The first thread of a block turns the step number into the three factors, in double precision.
__global__ void adabound_block(const float* __restrict__ param, const float* __restrict__ grad,
                               const float* __restrict__ m, const float* __restrict__ v, const int* __restrict__ step,
                               float* __restrict__ param_out, float* __restrict__ m_out, float* __restrict__ v_out) {
    __shared__ float base, lower, upper;
    if (threadIdx.x == 0) {
        const double t = step[0];
        base = (float)(0.001 * sqrt(1.0 - pow(0.999, t)) / (1.0 - pow(0.9, t)));
        lower = (float)(0.1 * (1.0 - 1.0 / (0.001 * t + 1.0)));
        upper = (float)(0.1 * (1.0 + 1.0 / (0.001 * t)));
    }
    __syncthreads();
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kN; i += stride) {
        const float g = grad[i];
        const float mi = fmaf(0.9f, m[i], 0.1f * g);
        const float vi = fmaf(0.999f, v[i], 0.001f * g * g);
        const float size = fminf(upper, fmaxf(lower, base / (sqrtf(vi) + 1e-8f)));
        param_out[i] = fmaf(-size, mi, param[i]);
        m_out[i] = mi;
        v_out[i] = vi;
    }
}

int main() {
    float* h_param = new float[kN];
    float* h_grad = new float[kN];
    float* h_m = new float[kN];
    float* h_v = new float[kN];
    int* h_step = new int[1];
    float* h_param_out = new float[kN];
    float* h_m_out = new float[kN];
    float* h_v_out = new float[kN];
    readArray("data/param.bin", h_param, kN);
    readArray("data/grad.bin", h_grad, kN);
    readArray("data/m.bin", h_m, kN);
    readArray("data/v.bin", h_v, kN);
    readArray("data/step.bin", h_step, 1);

    float *d_param, *d_grad, *d_m, *d_v, *d_param_out, *d_m_out, *d_v_out;
    int* d_step;
    cudaMalloc(&d_param, kN * sizeof(float));
    cudaMalloc(&d_grad, kN * sizeof(float));
    cudaMalloc(&d_m, kN * sizeof(float));
    cudaMalloc(&d_v, kN * sizeof(float));
    cudaMalloc(&d_step, sizeof(int));
    cudaMalloc(&d_param_out, kN * sizeof(float));
    cudaMalloc(&d_m_out, kN * sizeof(float));
    cudaMalloc(&d_v_out, kN * sizeof(float));
    cudaMemcpy(d_param, h_param, kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad, kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_m, h_m, kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, h_v, kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_step, h_step, sizeof(int), cudaMemcpyHostToDevice);

    adabound_block<<<528, 256>>>(d_param, d_grad, d_m, d_v, d_step, d_param_out, d_m_out, d_v_out);
    cudaDeviceSynchronize();

    cudaMemcpy(h_param_out, d_param_out, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_m_out, d_m_out, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_v_out, d_v_out, kN * sizeof(float), cudaMemcpyDeviceToHost);
    writeArray("data/param_out.bin", h_param_out, kN);
    writeArray("data/m_out.bin", h_m_out, kN);
    writeArray("data/v_out.bin", h_v_out, kN);

    cudaFree(d_param);
    cudaFree(d_grad);
    cudaFree(d_m);
    cudaFree(d_v);
    cudaFree(d_step);
    cudaFree(d_param_out);
    cudaFree(d_m_out);
    cudaFree(d_v_out);
    delete[] h_param;
    delete[] h_grad;
    delete[] h_m;
    delete[] h_v;
    delete[] h_step;
    delete[] h_param_out;
    delete[] h_m_out;
    delete[] h_v_out;
    return 0;
}
