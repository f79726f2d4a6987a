#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("short file: " + path);
    }
    return values;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int BATCH = 12;
constexpr int N = 60;
constexpr int BLOCK = 128;

__global__ void infinity_norm(const float* a, float* norms) {
    __shared__ float best[BLOCK];
    const float* m = a + (size_t)blockIdx.x * N * N;
    float top = 0.0f;
    for (int i = threadIdx.x; i < N; i += BLOCK) {
        float sum = 0.0f;
        for (int j = 0; j < N; ++j) sum += fabsf(m[i * N + j]);
        top = fmaxf(top, sum);
    }
    best[threadIdx.x] = top;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) norms[blockIdx.x] = best[0];
}

int main() {
    constexpr size_t numel = (size_t)BATCH * N * N;
    const auto host_a = read_vector<float>("data/a.bin", numel);

    float *a_dev, *norms_dev;
    cudaMalloc(&a_dev, numel * sizeof(float));
    cudaMalloc(&norms_dev, BATCH * sizeof(float));
    cudaMemcpy(a_dev, host_a.data(), numel * sizeof(float), cudaMemcpyHostToDevice);

    infinity_norm<<<BATCH, BLOCK>>>(a_dev, norms_dev);
    const auto status = cudaDeviceSynchronize();
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));

    std::vector<float> host_norms(BATCH);
    cudaMemcpy(host_norms.data(), norms_dev, BATCH * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/norms.bin", host_norms);
    cudaFree(a_dev);
    cudaFree(norms_dev);
    return 0;
}
