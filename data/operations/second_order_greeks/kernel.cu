#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kCount = 7000;

template <typename T>
struct DeviceBuffer {
  T* data = nullptr;
  explicit DeviceBuffer(size_t n) {
    if (cudaMalloc(&data, n * sizeof(T)) != cudaSuccess) {
      std::cerr << "cudaMalloc failed" << std::endl;
      std::exit(1);
    }
  }
  ~DeviceBuffer() { cudaFree(data); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

template <typename T>
void read_values(const std::string& path, std::vector<T>& v) {
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(T))) {
    std::cerr << "cannot read " + path << std::endl;
    std::exit(1);
  }
}

struct Greeks { float vega, vanna, volga; };

__device__ Greeks evaluate(float S, float K, float T, float s) {
  const float w = s * sqrtf(T);
  const float inv_s = 1.0f / s;
  const float d1 = (logf(S / K) + 0.02f * T) / w + 0.5f * w;
  const float d2 = d1 - w;
  const float phi = 0.39894228f * expf(-0.5f * d1 * d1);
  const float vega = S * phi * w * inv_s;
  return {vega, -phi * d2 * inv_s, vega * d1 * d2 * inv_s};
}

// Two options at a time as float2; an odd last one is done by the first thread.
__global__ void greeks_pairs(const float* __restrict__ spot, const float* __restrict__ strike,
                             const float* __restrict__ maturity, const float* __restrict__ volatility,
                             float* __restrict__ vega, float* __restrict__ vanna, float* __restrict__ volga) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int p = first; p < kCount / 2; p += gridDim.x * blockDim.x) {
    const float2 S = ((const float2*)spot)[p], K = ((const float2*)strike)[p];
    const float2 T = ((const float2*)maturity)[p], s = ((const float2*)volatility)[p];
    const Greeks a = evaluate(S.x, K.x, T.x, s.x);
    const Greeks b = evaluate(S.y, K.y, T.y, s.y);
    ((float2*)vega)[p] = make_float2(a.vega, b.vega);
    ((float2*)vanna)[p] = make_float2(a.vanna, b.vanna);
    ((float2*)volga)[p] = make_float2(a.volga, b.volga);
  }
  if (kCount % 2 == 1 && first == 0) {
    const int i = kCount - 1;
    const Greeks g = evaluate(spot[i], strike[i], maturity[i], volatility[i]);
    vega[i] = g.vega;
    vanna[i] = g.vanna;
    volga[i] = g.volga;
  }
}

int main() {
  std::vector<float> spot(kCount);
  std::vector<float> strike(kCount);
  std::vector<float> maturity(kCount);
  std::vector<float> volatility(kCount);
  std::vector<float> vega(kCount);
  std::vector<float> vanna(kCount);
  std::vector<float> volga(kCount);
  read_values("data/spot.bin", spot);
  read_values("data/strike.bin", strike);
  read_values("data/maturity.bin", maturity);
  read_values("data/volatility.bin", volatility);

  DeviceBuffer<float> d_spot(kCount);
  DeviceBuffer<float> d_strike(kCount);
  DeviceBuffer<float> d_maturity(kCount);
  DeviceBuffer<float> d_volatility(kCount);
  DeviceBuffer<float> d_vega(kCount);
  DeviceBuffer<float> d_vanna(kCount);
  DeviceBuffer<float> d_volga(kCount);
  cudaMemcpy(d_spot.data, spot.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_strike.data, strike.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_maturity.data, maturity.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_volatility.data, volatility.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);

  const int pairs = (kCount + 1) / 2;
  const int blocks = (pairs + 255) / 256;
  greeks_pairs<<<blocks, 256>>>(d_spot.data, d_strike.data, d_maturity.data, d_volatility.data, d_vega.data,
      d_vanna.data, d_volga.data);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) { std::cerr << cudaGetErrorString(err) << std::endl; return 1; }

  cudaMemcpy(vega.data(), d_vega.data, kCount * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream("data/vega.bin", std::ios::binary).write(reinterpret_cast<const char*>(vega.data()),
    kCount * sizeof(float));
  cudaMemcpy(vanna.data(), d_vanna.data, kCount * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream("data/vanna.bin", std::ios::binary).write(reinterpret_cast<const char*>(vanna.data()),
    kCount * sizeof(float));
  cudaMemcpy(volga.data(), d_volga.data, kCount * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream("data/volga.bin", std::ios::binary).write(reinterpret_cast<const char*>(volga.data()),
    kCount * sizeof(float));
  return 0;
}
