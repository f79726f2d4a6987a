#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int ROWS = 300;
constexpr int WIDTH = 80;
constexpr int LETTERS = 6;

template <typename T>
struct DeviceArray {
  T* p = nullptr;
  size_t count;
  explicit DeviceArray(size_t n) : count(n) {
    if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
  }
  ~DeviceArray() { cudaFree(p); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  void upload(const std::vector<T>& v) {
    cudaMemcpy(p, v.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  }
  void download(std::vector<T>& v) const {
    cudaMemcpy(v.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost);
  }
};

template <typename T>
std::vector<T> load(const std::string& path, size_t n) {
  std::vector<T> v(n);
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T));
  if (!in) throw std::runtime_error("cannot read " + path);
  return v;
}

__device__ unsigned char lower(unsigned char ch) {
  return ch >= 'A' && ch <= 'Z' ? ch + 32 : ch;
}

__global__ void fuzzy_match(const unsigned char* lines, const unsigned char* pattern, int* matched, int* last) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= ROWS) return;
  const unsigned char* line = lines + r * WIDTH;
  int k = 0;
  int end = -1;
  for (int c = 0; c < WIDTH && k < LETTERS; c++) {
    if (lower(line[c]) == lower(pattern[k])) {
      k++;
      end = c;
    }
  }
  matched[r] = k;
  last[r] = k == LETTERS ? end : -1;
}

int main() {
  const size_t num_lines = ROWS * WIDTH;
  std::vector<unsigned char> lines = load<unsigned char>("data/lines.bin", num_lines);
  std::vector<unsigned char> pattern = load<unsigned char>("data/pattern.bin", LETTERS);
  std::vector<int> matched(ROWS);
  std::vector<int> last(ROWS);

  DeviceArray<unsigned char> dev_lines(num_lines);
  DeviceArray<unsigned char> dev_pattern(LETTERS);
  DeviceArray<int> dev_matched(ROWS);
  DeviceArray<int> dev_last(ROWS);
  dev_lines.upload(lines);
  dev_pattern.upload(pattern);

  fuzzy_match<<<(ROWS + 127) / 128, 128>>>(dev_lines.p, dev_pattern.p, dev_matched.p, dev_last.p);
  if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

  dev_matched.download(matched);
  dev_last.download(last);
  std::ofstream out_matched("data/matched.bin", std::ios::binary);
  out_matched.write(reinterpret_cast<char*>(matched.data()), sizeof(int) * ROWS);
  std::ofstream out_last("data/last.bin", std::ios::binary);
  out_last.write(reinterpret_cast<char*>(last.data()), sizeof(int) * ROWS);
  return 0;
}
