#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

struct GpuArray {
  float* ptr = nullptr;
  explicit GpuArray(size_t n) {
    if (cudaMalloc(&ptr, n * sizeof(float)) != cudaSuccess) exit(1);
  }
  ~GpuArray() { cudaFree(ptr); }
  GpuArray(const GpuArray&) = delete;
  void operator=(const GpuArray&) = delete;
};

void read_file(const char* path, std::vector<float>& v) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(v.data(), sizeof(float), v.size(), f) != v.size()) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fclose(f);
}

constexpr int kN = 6000;

// sincospif takes half turns, so the angle in degrees is only divided by 180.
__global__ void to_ecef_pi(const float* __restrict__ lat, const float* __restrict__ lon,
                           const float* __restrict__ height, float* __restrict__ ecef, int n) {
  const float e2 = 0.00669438f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float sin_lat, cos_lat, sin_lon, cos_lon;
    sincospif(lat[i] / 180.0f, &sin_lat, &cos_lat);
    sincospif(lon[i] / 180.0f, &sin_lon, &cos_lon);
    const float radius = 6378137.0f * rsqrtf(fmaf(-e2 * sin_lat, sin_lat, 1.0f));
    const float across = (radius + height[i]) * cos_lat;
    float* p = ecef + 3 * (size_t)i;
    p[0] = across * cos_lon;
    p[1] = across * sin_lon;
    p[2] = fmaf(radius, 1.0f - e2, height[i]) * sin_lat;
  }
}

int main() {
  const size_t ecef_size = kN * 3;
  std::vector<float> lat(kN);
  std::vector<float> lon(kN);
  std::vector<float> height(kN);
  std::vector<float> ecef(ecef_size);
  read_file("data/lat.bin", lat);
  read_file("data/lon.bin", lon);
  read_file("data/height.bin", height);
  GpuArray d_lat(kN);
  GpuArray d_lon(kN);
  GpuArray d_height(kN);
  GpuArray d_ecef(ecef_size);
  cudaMemcpy(d_lat.ptr, lat.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_lon.ptr, lon.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_height.ptr, height.data(), kN * sizeof(float), cudaMemcpyHostToDevice);

  const int blocks = min((kN + 256 - 1) / 256, 2048);
  to_ecef_pi<<<blocks, 256>>>(d_lat.ptr, d_lon.ptr, d_height.ptr, d_ecef.ptr, kN);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    fprintf(stderr, "kernel failed\n");
    return 1;
  }

  cudaMemcpy(ecef.data(), d_ecef.ptr, ecef_size * sizeof(float), cudaMemcpyDeviceToHost);
  FILE* out = fopen("data/ecef.bin", "wb");
  if (!out || fwrite(ecef.data(), sizeof(float), ecef.size(), out) != ecef.size()) return 1;
  fclose(out);
  return 0;
}
