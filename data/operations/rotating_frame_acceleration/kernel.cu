#include <cuda_runtime.h>
#include <string>
#include <fstream>
#include <iostream>
#include <cstdlib>
#include <vector>

template <typename T>
std::vector<T> load_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(1);
    }
    return values;
}

template <typename T>
void store_vector(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kBodies = 3000;
constexpr int kTotal = kBodies * 3;

// All terms are linear in v and r: component c is row c of two 3 x 3 matrices. One thread a component.
__global__ void apply_matrices(const float* __restrict__ position, const float* __restrict__ velocity,
                               const float* __restrict__ spin, float* __restrict__ apparent) {
    __shared__ float on_v[3][3], on_r[3][3];
    if (threadIdx.x < 9) {
        int row = threadIdx.x / 3, col = threadIdx.x % 3;
        int third = 3 - row - col;
        float sign = (col - row + 3) % 3 == 1 ? -1.0f : 1.0f;
        float square = spin[0] * spin[0] + spin[1] * spin[1] + spin[2] * spin[2];
        float outer = spin[row] * spin[col];
        on_v[row][col] = row == col ? 0.0f : -2.0f * sign * spin[third];
        on_r[row][col] = row == col ? square - outer : -outer - sign * spin[3 + third];
    }
    __syncthreads();
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= kTotal) return;
    int c = k % 3;
    const float* r = position + k - c;
    const float* v = velocity + k - c;
    float sum = 0.0f;
    for (int j = 0; j < 3; ++j) sum += on_v[c][j] * v[j] + on_r[c][j] * r[j];
    apparent[k] = sum;
}

int main() {
    const auto h_position = load_vector<float>("data/position.bin", kTotal);
    const auto h_velocity = load_vector<float>("data/velocity.bin", kTotal);
    const auto h_spin = load_vector<float>("data/spin.bin", 2 * 3);

    float *d_position, *d_velocity, *d_spin, *d_apparent;
    cudaMalloc(&d_position, kTotal * sizeof(float));
    cudaMemcpy(d_position, h_position.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_velocity, kTotal * sizeof(float));
    cudaMemcpy(d_velocity, h_velocity.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_spin, 2 * 3 * sizeof(float));
    cudaMemcpy(d_spin, h_spin.data(), 2 * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_apparent, kTotal * sizeof(float));

    apply_matrices<<<(kTotal + 191) / 192, 192>>>(d_position, d_velocity, d_spin, d_apparent);

    std::vector<float> h_apparent(kTotal);
    cudaMemcpy(h_apparent.data(), d_apparent, kTotal * sizeof(float), cudaMemcpyDeviceToHost);
    store_vector("data/apparent.bin", h_apparent);

    cudaFree(d_position);
    cudaFree(d_velocity);
    cudaFree(d_spin);
    cudaFree(d_apparent);
    return 0;
}
