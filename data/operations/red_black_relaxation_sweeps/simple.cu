#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int HEIGHT = 60;
const int WIDTH = 97;
const int SWEEPS = 4;

__global__ void relax_colour(float* u, const float* f, int colour) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < 1 || c < 1 || r >= HEIGHT - 1 || c >= WIDTH - 1 || (r + c) % 2 != colour) return;
    int i = r * WIDTH + c;
    float target = 0.25f * (u[i - WIDTH] + u[i + WIDTH] + u[i - 1] + u[i + 1] - f[i]);
    u[i] += 1.6f * (target - u[i]);
}

int main() {
    const size_t num = (size_t)HEIGHT * WIDTH;
    std::vector<float> h_guess(num);
    std::vector<float> h_source(num);
    std::vector<float> h_solution(num);
    std::ifstream guess_file("data/guess.bin", std::ios::binary);
    if (!guess_file.read(reinterpret_cast<char*>(h_guess.data()), num * sizeof(float))) {
        std::cerr << "guess.bin: read failed" << std::endl;
        return 1;
    }
    std::ifstream source_file("data/source.bin", std::ios::binary);
    if (!source_file.read(reinterpret_cast<char*>(h_source.data()), num * sizeof(float))) {
        std::cerr << "source.bin: read failed" << std::endl;
        return 1;
    }

    float* d_guess = nullptr;
    cudaMalloc(&d_guess, num * sizeof(float));
    float* d_source = nullptr;
    cudaMalloc(&d_source, num * sizeof(float));
    float* d_solution = nullptr;
    cudaMalloc(&d_solution, num * sizeof(float));
    cudaMemcpy(d_guess, h_guess.data(), num * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_source, h_source.data(), num * sizeof(float), cudaMemcpyHostToDevice);

    cudaMemcpy(d_solution, d_guess, sizeof(float) * HEIGHT * WIDTH, cudaMemcpyDeviceToDevice);
    dim3 block(32, 8);
    dim3 grid((WIDTH + 31) / 32, (HEIGHT + 7) / 8);
    for (int s = 0; s < SWEEPS; ++s) {
        relax_colour<<<grid, block>>>(d_solution, d_source, 0);
        relax_colour<<<grid, block>>>(d_solution, d_source, 1);
    }

    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_solution.data(), d_solution, num * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out("data/solution.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_solution.data()), num * sizeof(float));
    cudaFree(d_guess);
    cudaFree(d_source);
    cudaFree(d_solution);
    return 0;
}
