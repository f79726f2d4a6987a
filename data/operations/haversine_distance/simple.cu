#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 6000;

__global__ void distance_bearing(const float* start, const float* goal, float* km, float* bearing, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float rad = 0.017453292f;
  float p1 = start[2 * i] * rad;
  float p2 = goal[2 * i] * rad;
  float dp = (goal[2 * i] - start[2 * i]) * rad;
  float dl = (goal[2 * i + 1] - start[2 * i + 1]) * rad;
  float a = sinf(dp / 2.0f);
  float b = sinf(dl / 2.0f);
  float h = a * a + cosf(p1) * cosf(p2) * b * b;
  km[i] = 2.0f * 6371.0f * atan2f(sqrtf(h), sqrtf(1.0f - h));
  float y = sinf(dl) * cosf(p2);
  float x = cosf(p1) * sinf(p2) - sinf(p1) * cosf(p2) * cosf(dl);
  float angle = atan2f(y, x) / rad;
  bearing[i] = angle < 0.0f ? angle + 360.0f : angle;
}

int main() {
  const int numel = kN * 2;
  std::vector<float> h_start(numel);
  std::vector<float> h_goal(numel);
  std::vector<float> h_km(kN);
  std::vector<float> h_bearing(kN);
  std::ifstream fin_start("data/start.bin", std::ios::binary);
  fin_start.read(reinterpret_cast<char*>(h_start.data()), numel * sizeof(float));
  if (!fin_start) {
    std::cerr << "missing or incomplete file data/start.bin" << std::endl;
    return 1;
  }
  std::ifstream in_goal("data/goal.bin", std::ios::binary);
  in_goal.read(reinterpret_cast<char*>(h_goal.data()), numel * sizeof(float));
  if (!in_goal) {
    std::cerr << "could not read data/goal.bin" << std::endl;
    return 1;
  }

  float* d_start;
  float* d_goal;
  float* d_km;
  float* d_bearing;
  cudaMalloc(&d_start, numel * sizeof(float));
  cudaMalloc(&d_goal, numel * sizeof(float));
  cudaMalloc(&d_km, kN * sizeof(float));
  cudaMalloc(&d_bearing, kN * sizeof(float));
  cudaMemcpy(d_start, h_start.data(), numel * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_goal, h_goal.data(), numel * sizeof(float), cudaMemcpyHostToDevice);

  const int block = 256;
  const int grid = (kN + block - 1) / block;
  distance_bearing<<<grid, block>>>(d_start, d_goal, d_km, d_bearing, kN);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "GPU: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }
  cudaMemcpy(h_km.data(), d_km, kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_bearing.data(), d_bearing, kN * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream fout_km("data/km.bin", std::ios::binary);
  fout_km.write(reinterpret_cast<char*>(h_km.data()), kN * sizeof(float));
  std::ofstream out_bearing("data/bearing.bin", std::ios::binary);
  out_bearing.write(reinterpret_cast<char*>(h_bearing.data()), kN * sizeof(float));

  cudaFree(d_start);
  cudaFree(d_goal);
  cudaFree(d_km);
  cudaFree(d_bearing);
  return 0;
}
