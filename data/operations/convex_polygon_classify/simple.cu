#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int COUNT = 10;
constexpr int SIDES = 8;
constexpr int N = 1500;

template <typename T>
struct DeviceArray {
  T* ptr_ = nullptr;
  explicit DeviceArray(size_t count) {
    if (cudaMalloc(&ptr_, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
  }
  ~DeviceArray() { cudaFree(ptr_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* get() const { return ptr_; }
};

template <typename T>
void read_into(const std::string& path, std::vector<T>& v) {
  FILE* f = fopen(path.c_str(), "rb");
  if (!f || fread(v.data(), sizeof(T), v.size(), f) != v.size()) throw std::runtime_error("cannot read " + path);
  fclose(f);
}

__global__ void classify(const float* polygons, const float* points, int* where) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int poly = blockIdx.y;
  if (i >= N) return;
  const float* corner = polygons + poly * SIDES * 2;
  const float* p = points + ((size_t)poly * N + i) * 2;
  int result = 1;
  for (int j = 0; j < SIDES; ++j) {
    int k = (j + 1) % SIDES;
    float ax = corner[2 * j], ay = corner[2 * j + 1];
    float bx = corner[2 * k], by = corner[2 * k + 1];
    float c = (bx - ax) * (p[1] - ay) - (by - ay) * (p[0] - ax);
    if (c < 0.0f) {
      result = -1;
      break;
    }
    if (c == 0.0f) result = 0;
  }
  where[(size_t)poly * N + i] = result;
}

int main() {
  try {
    std::vector<float> host_polygons(COUNT * SIDES * 2);
    std::vector<float> host_points(COUNT * N * 2);
    std::vector<int> host_where(COUNT * N);
    read_into("data/polygons.bin", host_polygons);
    read_into("data/points.bin", host_points);

    DeviceArray<float> polygons(COUNT * SIDES * 2);
    DeviceArray<float> points(COUNT * N * 2);
    DeviceArray<int> where(COUNT * N);
    cudaMemcpy(polygons.get(), host_polygons.data(), sizeof(float) * COUNT * SIDES * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(points.get(), host_points.data(), sizeof(float) * COUNT * N * 2, cudaMemcpyHostToDevice);

    dim3 block(256);
    dim3 grid((N + 256 - 1) / 256, COUNT);
    classify<<<grid, block>>>(polygons.get(), points.get(), where.get());
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    cudaMemcpy(host_where.data(), where.get(), sizeof(int) * COUNT * N, cudaMemcpyDeviceToHost);
    FILE* out = fopen("data/where.bin", "wb");
    if (!out) return 1;
    fwrite(host_where.data(), sizeof(int), host_where.size(), out);
    fclose(out);
  } catch (const std::exception& e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
