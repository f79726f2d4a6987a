#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> loadVec(const std::string& path, size_t count) {
  std::vector<T> v(count);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
    std::cerr << "failed to read " << path << '\n';
    std::exit(1);
  }
  return v;
}

template <typename T>
void storeVec(const std::string& path, const std::vector<T>& v) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kN = 5000;

__global__ void digits(const int* numbers, int* digit_sum, int* reversed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int rest = abs(numbers[i]);
    int sum = 0, back = 0;
    while (rest > 0) {
      int digit = rest % 10;
      sum += digit;
      back = back * 10 + digit;
      rest /= 10;
    }
    digit_sum[i] = sum;
    reversed[i] = numbers[i] < 0 ? -back : back;
  }
}

int main() {
  auto numbers = loadVec<int>("data/numbers.bin", kN);
  std::vector<int> digit_sum(kN);
  std::vector<int> reversed(kN);

  int *d_numbers, *d_digit_sum, *d_reversed;
  cudaMalloc(&d_numbers, numbers.size() * sizeof(int));
  cudaMalloc(&d_digit_sum, digit_sum.size() * sizeof(int));
  cudaMalloc(&d_reversed, reversed.size() * sizeof(int));
  cudaMemcpy(d_numbers, numbers.data(), numbers.size() * sizeof(int), cudaMemcpyHostToDevice);

  int threads = 256;
  digits<<<(kN + threads - 1) / threads, threads>>>(d_numbers, d_digit_sum, d_reversed, kN);
  if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
    std::cerr << cudaGetErrorString(err) << '\n';
    return 1;
  }

  cudaMemcpy(digit_sum.data(), d_digit_sum, digit_sum.size() * sizeof(int), cudaMemcpyDeviceToHost);
  storeVec("data/digit_sum.bin", digit_sum);
  cudaMemcpy(reversed.data(), d_reversed, reversed.size() * sizeof(int), cudaMemcpyDeviceToHost);
  storeVec("data/reversed.bin", reversed);
  cudaFree(d_numbers);
  cudaFree(d_digit_sum);
  cudaFree(d_reversed);
  return 0;
}
