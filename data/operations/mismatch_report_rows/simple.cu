#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T));
    if (!in) throw std::runtime_error("cannot read " + path);
    return v;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& v) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kPairs = 150;
constexpr int kLength = 120;

const int BLOCK = 128;

__global__ void compare(const unsigned char* left, const unsigned char* right, int* distance, int* first) {
    __shared__ int count[BLOCK];
    __shared__ int earliest[BLOCK];
    int tid = threadIdx.x;
    size_t base = (size_t)blockIdx.x * kLength;
    int n = 0, at = kLength;
    for (int i = tid; i < kLength; i += BLOCK) {
        if (left[base + i] != right[base + i]) {
            n++;
            at = min(at, i);
        }
    }
    count[tid] = n;
    earliest[tid] = at;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (tid < s) {
            count[tid] += count[tid + s];
            earliest[tid] = min(earliest[tid], earliest[tid + s]);
        }
        __syncthreads();
    }
    if (tid == 0) {
        distance[blockIdx.x] = count[0];
        first[blockIdx.x] = earliest[0];
    }
}

int main() {
    const size_t n_left = kPairs * kLength;
    const auto left = load<unsigned char>("data/left.bin", n_left);
    auto right = load<unsigned char>("data/right.bin", n_left);
    std::vector<int> distance(kPairs);
    std::vector<int> first(kPairs);

    unsigned char* d_left = nullptr;
    unsigned char* d_right = nullptr;
    int* d_distance = nullptr;
    int* d_first = nullptr;
    cudaMalloc(&d_left, left.size() * sizeof(unsigned char));
    cudaMalloc(&d_right, right.size() * sizeof(unsigned char));
    cudaMalloc(&d_distance, distance.size() * sizeof(int));
    cudaMalloc(&d_first, first.size() * sizeof(int));
    cudaMemcpy(d_left, left.data(), left.size() * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemcpy(d_right, right.data(), right.size() * sizeof(unsigned char), cudaMemcpyHostToDevice);

    compare<<<kPairs, BLOCK>>>(d_left, d_right, d_distance, d_first);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;

    cudaMemcpy(distance.data(), d_distance, distance.size() * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(first.data(), d_first, first.size() * sizeof(int), cudaMemcpyDeviceToHost);
    store("data/distance.bin", distance);
    store("data/first.bin", first);
    cudaFree(d_left);
    cudaFree(d_right);
    cudaFree(d_distance);
    cudaFree(d_first);
    return 0;
}
