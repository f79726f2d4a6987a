constexpr int kRows = 100;
constexpr int kLenA = 60;
constexpr int kLenB = 45;

__global__ void ks_distance(const float* sample_a, const float* sample_b, float* distance,
              float* location, int rows, int len_a, int len_b) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* a = sample_a + (size_t)r * len_a;
  const float* b = sample_b + (size_t)r * len_b;
  int i = 0, j = 0, best = -1;
  float where = 0.0f;
  while (i < len_a || j < len_b) {
    float v;
    if (i == len_a) v = b[j];
    else if (j == len_b) v = a[i];
    else v = fminf(a[i], b[j]);
    while (i < len_a && a[i] <= v) ++i;
    while (j < len_b && b[j] <= v) ++j;
    int d = abs(i * len_b - j * len_a);
    if (d > best) {
      best = d;
      where = v;
    }
  }
  distance[r] = (float)best / ((float)len_a * len_b);
  location[r] = where;
}

int main() {
  const int sample_a_size = kRows * kLenA;
  const size_t sample_b_total = kRows * kLenB;
  std::vector<float> h_sample_a(sample_a_size);
  std::vector<float> h_sample_b(sample_b_total);
  std::vector<float> h_distance(kRows);
  std::vector<float> h_location(kRows);

  read_binary("data/sample_a.bin", h_sample_a.data(), sample_a_size);
  read_binary("data/sample_b.bin", h_sample_b.data(), sample_b_total);

  float* d_sample_a;
  float* d_sample_b;
  float* d_distance;
  float* d_location;
  cudaMalloc(&d_sample_a, sample_a_size * sizeof(float));
  cudaMalloc(&d_sample_b, sample_b_total * sizeof(float));
  cudaMalloc(&d_distance, kRows * sizeof(float));
  cudaMalloc(&d_location, kRows * sizeof(float));

  cudaMemcpy(d_sample_a, h_sample_a.data(), sample_a_size * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_sample_b, h_sample_b.data(), sample_b_total * sizeof(float), cudaMemcpyHostToDevice);

  const int threads = 128;
  const int blocks = (kRows + threads - 1) / threads;
  ks_distance<<<blocks, threads>>>(d_sample_a, d_sample_b, d_distance, d_location, kRows, kLenA, kLenB);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::cerr << "error\n";
    return 1;
  }

  cudaMemcpy(h_distance.data(), d_distance, kRows * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/distance.bin", h_distance.data(), kRows);
  cudaMemcpy(h_location.data(), d_location, kRows * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/location.bin", h_location.data(), kRows);

  cudaFree(d_sample_a);
  cudaFree(d_sample_b);
  cudaFree(d_distance);
  cudaFree(d_location);
  return 0;
}
