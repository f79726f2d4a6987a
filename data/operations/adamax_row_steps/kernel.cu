#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int kRows = 120;
const int kDim = 64;

// A warp takes a row: the bias correction is computed once for all its columns.
__global__ void adamax_rows(const float* __restrict__ weight, const float* __restrict__ grad,
                            const float* __restrict__ moment, const float* __restrict__ norm,
                            const int* __restrict__ step, float* __restrict__ weight_out,
                            float* __restrict__ moment_out, float* __restrict__ norm_out) {
    const int lane = threadIdx.x;
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= kRows) return;
    const int t = step[row];
    const bool live = t > 0;
    const float rate = live ? 0.002f / (1.0f - powf(0.9f, (float)t)) : 0.0f;
    const float keep_m = live ? 0.9f : 1.0f, add_m = live ? 0.1f : 0.0f, keep_u = live ? 0.999f : 1.0f;
    for (int c = lane; c < kDim; c += 32) {
        const size_t i = (size_t)row * kDim + c;
        const float g = grad[i];
        const float m = keep_m * moment[i] + add_m * g;
        const float u = live ? fmaxf(keep_u * norm[i], fabsf(g) + 1e-7f) : norm[i];
        moment_out[i] = m;
        norm_out[i] = u;
        weight_out[i] = live ? weight[i] - rate * m / u : weight[i];
    }
}

void solve(const float* d_weight, const float* d_grad, const float* d_moment, const float* d_norm,
           const int* d_step, float* d_weight_out, float* d_moment_out, float* d_norm_out) {
    adamax_rows<<<(kRows + 7) / 8, dim3(32, 8)>>>(d_weight, d_grad, d_moment, d_norm, d_step,
                                                d_weight_out, d_moment_out, d_norm_out);
}

int main() {
    std::vector<float> h_weight(kRows * kDim);
    std::vector<float> h_grad(kRows * kDim);
    std::vector<float> h_moment(kRows * kDim);
    std::vector<float> h_norm(kRows * kDim);
    std::vector<int> h_step(kRows);
    std::vector<float> h_weight_out(kRows * kDim);
    std::vector<float> h_moment_out(kRows * kDim);
    std::vector<float> h_norm_out(kRows * kDim);
    std::ifstream weight_in("data/weight.bin", std::ios::binary);
    weight_in.read(reinterpret_cast<char*>(h_weight.data()), kRows * kDim * sizeof(float));
    std::ifstream grad_in("data/grad.bin", std::ios::binary);
    grad_in.read(reinterpret_cast<char*>(h_grad.data()), kRows * kDim * sizeof(float));
    std::ifstream moment_in("data/moment.bin", std::ios::binary);
    moment_in.read(reinterpret_cast<char*>(h_moment.data()), kRows * kDim * sizeof(float));
    std::ifstream norm_in("data/norm.bin", std::ios::binary);
    norm_in.read(reinterpret_cast<char*>(h_norm.data()), kRows * kDim * sizeof(float));
    std::ifstream step_in("data/step.bin", std::ios::binary);
    step_in.read(reinterpret_cast<char*>(h_step.data()), kRows * sizeof(int));
    if (!weight_in || !grad_in || !moment_in || !norm_in || !step_in) {
        std::cerr << "cannot read the inputs" << std::endl;
        return 1;
    }

    float* d_weight;
    float* d_grad;
    float* d_moment;
    float* d_norm;
    int* d_step;
    float* d_weight_out;
    float* d_moment_out;
    float* d_norm_out;
    cudaMalloc(&d_weight, kRows * kDim * sizeof(float));
    cudaMalloc(&d_grad, kRows * kDim * sizeof(float));
    cudaMalloc(&d_moment, kRows * kDim * sizeof(float));
    cudaMalloc(&d_norm, kRows * kDim * sizeof(float));
    cudaMalloc(&d_step, kRows * sizeof(int));
    cudaMalloc(&d_weight_out, kRows * kDim * sizeof(float));
    cudaMalloc(&d_moment_out, kRows * kDim * sizeof(float));
    cudaMalloc(&d_norm_out, kRows * kDim * sizeof(float));
    cudaMemcpy(d_weight, h_weight.data(), kRows * kDim * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad.data(), kRows * kDim * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_moment, h_moment.data(), kRows * kDim * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_norm, h_norm.data(), kRows * kDim * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_step, h_step.data(), kRows * sizeof(int), cudaMemcpyHostToDevice);

    solve(d_weight, d_grad, d_moment, d_norm, d_step, d_weight_out, d_moment_out, d_norm_out);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "launch failed" << std::endl;
        return 1;
    }

    cudaMemcpy(h_weight_out.data(), d_weight_out, kRows * kDim * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_moment_out.data(), d_moment_out, kRows * kDim * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_norm_out.data(), d_norm_out, kRows * kDim * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream weight_out_out("data/weight_out.bin", std::ios::binary);
    weight_out_out.write(reinterpret_cast<const char*>(h_weight_out.data()), kRows * kDim * sizeof(float));
    std::ofstream moment_out_out("data/moment_out.bin", std::ios::binary);
    moment_out_out.write(reinterpret_cast<const char*>(h_moment_out.data()), kRows * kDim * sizeof(float));
    std::ofstream norm_out_out("data/norm_out.bin", std::ios::binary);
    norm_out_out.write(reinterpret_cast<const char*>(h_norm_out.data()), kRows * kDim * sizeof(float));

    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_moment);
    cudaFree(d_norm);
    cudaFree(d_step);
    cudaFree(d_weight_out);
    cudaFree(d_moment_out);
    cudaFree(d_norm_out);
    return 0;
}
