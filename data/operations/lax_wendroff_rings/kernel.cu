#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int RINGS = 25;
constexpr int CELLS = 150;
constexpr int TOTAL = RINGS * CELLS;

// The scheme is a weighted sum of three cells; two steps in a row need five.
__global__ void two_steps(const float* __restrict__ u, const float* __restrict__ courant,
    float* __restrict__ next) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= TOTAL) return;
  int ring = k / CELLS;
  int i = k - ring * CELLS;
  const float* row = u + ring * CELLS;
  float c = courant[ring];
  float wl = 0.5f * c * (c + 1.0f), wm = 1.0f - c * c, wr = 0.5f * c * (c - 1.0f);
  float v[5];
  for (int d = 0; d < 5; ++d) {
    int j = i + d - 2;
    if (j < 0) j += CELLS;
    if (j >= CELLS) j -= CELLS;
    v[d] = row[j];
  }
  float left = wl * v[0] + wm * v[1] + wr * v[2];
  float middle = wl * v[1] + wm * v[2] + wr * v[3];
  float right = wl * v[2] + wm * v[3] + wr * v[4];
  next[k] = wl * left + wm * middle + wr * right;
}

int main() {
  std::vector<float> h_density(TOTAL);
  std::vector<float> h_courant(RINGS);
  std::vector<float> h_advected(TOTAL);
  std::ifstream in_density("data/density.bin", std::ios::binary);
  in_density.read(reinterpret_cast<char*>(h_density.data()), TOTAL * sizeof(float));
  if (!in_density) {
    std::cerr << "failed to read data/density.bin" << std::endl;
    return 1;
  }
  std::ifstream in_courant("data/courant.bin", std::ios::binary);
  if (!in_courant.read((char*)h_courant.data(), RINGS * sizeof(float))) {
    std::cerr << "cannot read data/courant.bin\n";
    return 1;
  }

  float *d_density, *d_courant, *d_advected, *d_half;
  cudaMalloc(&d_density, TOTAL * sizeof(float));
  cudaMalloc(&d_courant, RINGS * sizeof(float));
  cudaMalloc(&d_advected, TOTAL * sizeof(float));
  cudaMalloc(&d_half, TOTAL * sizeof(float));
  cudaMemcpy(d_density, h_density.data(), TOTAL * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_courant, h_courant.data(), RINGS * sizeof(float), cudaMemcpyHostToDevice);

  int grid = (TOTAL + 127) / 128;
  const float* from = d_density;
  for (int pair = 0; pair < 8; ++pair) {
    float* to = pair % 2 == 0 ? d_half : d_advected;
    two_steps<<<grid, 128>>>(from, d_courant, to);
    from = to;
  }
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(error) << std::endl;
    return 1;
  }

  cudaMemcpy(h_advected.data(), d_advected, TOTAL * sizeof(float), cudaMemcpyDeviceToHost);

  cudaFree(d_density);
  cudaFree(d_courant);
  cudaFree(d_advected);
  cudaFree(d_half);

  std::ofstream os("data/advected.bin", std::ios::binary);
  os.write(reinterpret_cast<const char*>(h_advected.data()), TOTAL * sizeof(float));
  return 0;
}
