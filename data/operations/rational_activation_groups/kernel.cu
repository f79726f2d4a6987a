#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 20;
const int GROUPS = 4;
const int WIDTH = 100;

// A block works on one group for 16 rows; the ten coefficients are held in registers.
__global__ void rational_group(const float* __restrict__ x, const float* __restrict__ num,
                               const float* __restrict__ den, float* __restrict__ y) {
  const int g = blockIdx.y;
  float a[6], b[4];
  for (int k = 0; k < 6; ++k) a[k] = num[g * 6 + k];
  for (int k = 0; k < 4; ++k) b[k] = den[g * 4 + k];
  const int first = blockIdx.x * 16;
  const int last = min(first + 16, ROWS);
  const int items = (last - first) * WIDTH;
  for (int i = threadIdx.x; i < items; i += blockDim.x) {
    const size_t at = ((size_t)(first + i / WIDTH) * GROUPS + g) * WIDTH + i % WIDTH;
    const float v = x[at];
    const float p = fmaf(fmaf(fmaf(fmaf(fmaf(a[5], v, a[4]), v, a[3]), v, a[2]), v, a[1]), v, a[0]);
    const float q = v * fmaf(fmaf(fmaf(b[3], v, b[2]), v, b[1]), v, b[0]);
    y[at] = p / (1.0f + fabsf(q));
  }
}

int main() {
  const size_t size = ROWS * GROUPS * WIDTH;
  const size_t num_count = GROUPS * 6;
  const size_t den_count = GROUPS * 4;
  std::vector<float> h_x(size);
  std::vector<float> h_num(num_count);
  std::vector<float> h_den(den_count);
  std::vector<float> h_y(size);
  std::ifstream in_x("data/x.bin", std::ios::binary);
  in_x.read(reinterpret_cast<char*>(h_x.data()), size * sizeof(float));
  if (!in_x) {
    std::cerr << "failed to read data/x.bin" << std::endl;
    return 1;
  }
  std::ifstream num_file("data/num.bin", std::ios::binary);
  num_file.read(reinterpret_cast<char*>(h_num.data()), num_count * sizeof(float));
  if (!num_file) {
    std::cerr << "missing or incomplete file data/num.bin" << std::endl;
    return 1;
  }
  std::ifstream den_file("data/den.bin", std::ios::binary);
  den_file.read(reinterpret_cast<char*>(h_den.data()), den_count * sizeof(float));
  if (!den_file) {
    std::cerr << "failed to read data/den.bin" << std::endl;
    return 1;
  }

  float *d_x, *d_num, *d_den, *d_y;
  cudaMalloc(&d_x, size * sizeof(float));
  cudaMalloc(&d_num, num_count * sizeof(float));
  cudaMalloc(&d_den, den_count * sizeof(float));
  cudaMalloc(&d_y, size * sizeof(float));
  cudaMemcpy(d_x, h_x.data(), size * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_num, h_num.data(), num_count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_den, h_den.data(), den_count * sizeof(float), cudaMemcpyHostToDevice);
  dim3 blocks((ROWS + 16 - 1) / 16, GROUPS);
  rational_group<<<blocks, 256>>>(d_x, d_num, d_den, d_y);
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }
  cudaMemcpy(h_y.data(), d_y, size * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream output("data/y.bin", std::ios::binary);
  output.write(reinterpret_cast<char*>(h_y.data()), size * sizeof(float));

  cudaFree(d_x);
  cudaFree(d_num);
  cudaFree(d_den);
  cudaFree(d_y);
  return 0;
}
