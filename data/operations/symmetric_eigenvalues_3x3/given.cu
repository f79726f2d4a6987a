#define COUNT 2500

__global__ void eigenvalues_3x3(const float* s, float* values, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float* m = s + 6 * i;
  float q = (m[0] + m[3] + m[5]) / 3.0f;
  float a = m[0] - q, d = m[3] - q, f = m[5] - q;
  float b = m[1], c = m[2], e = m[4];
  float p = sqrtf((a * a + d * d + f * f + 2.0f * (b * b + c * c + e * e)) / 6.0f);
  float det = a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d);
  float r = det / (2.0f * p * p * p);
  r = fminf(1.0f, fmaxf(-1.0f, r));
  float phi = acosf(r) / 3.0f;
  float largest = q + 2.0f * p * cosf(phi);
  float smallest = q + 2.0f * p * cosf(phi + 2.0943951f);
  values[3 * i] = largest;
  values[3 * i + 1] = 3.0f * q - largest - smallest;
  values[3 * i + 2] = smallest;
}

int main() {
  const int s_total = COUNT * 6;
  std::vector<float> h_s(s_total);
  read_binary("data/s.bin", h_s.data(), s_total);

  float* d_s = nullptr;
  float* d_values = nullptr;
  cudaMalloc(&d_s, s_total * sizeof(float));
  cudaMemcpy(d_s, h_s.data(), s_total * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_values, COUNT * 3 * sizeof(float));

  const int block = 128;
  const int grid = (COUNT + block - 1) / block;
  eigenvalues_3x3<<<grid, block>>>(d_s, d_values, COUNT);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  std::vector<float> h_values(COUNT * 3);
  cudaMemcpy(h_values.data(), d_values, COUNT * 3 * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/values.bin", h_values.data(), COUNT * 3);

  cudaFree(d_s);
  cudaFree(d_values);
  return 0;
}
