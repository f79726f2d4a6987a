const int COUNT = 2000;

__global__ void invert(const float* a, float* inverse, float* det, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float* m = a + 9 * i;
  float* out = inverse + 9 * i;
  float c0 = m[4] * m[8] - m[5] * m[7];
  float c1 = m[5] * m[6] - m[3] * m[8];
  float c2 = m[3] * m[7] - m[4] * m[6];
  float d = m[0] * c0 + m[1] * c1 + m[2] * c2;
  out[0] = c0 / d;
  out[1] = (m[2] * m[7] - m[1] * m[8]) / d;
  out[2] = (m[1] * m[5] - m[2] * m[4]) / d;
  out[3] = c1 / d;
  out[4] = (m[0] * m[8] - m[2] * m[6]) / d;
  out[5] = (m[2] * m[3] - m[0] * m[5]) / d;
  out[6] = c2 / d;
  out[7] = (m[1] * m[6] - m[0] * m[7]) / d;
  out[8] = (m[0] * m[4] - m[1] * m[3]) / d;
  det[i] = d;
}

int main() {
  const size_t elements = COUNT * 3 * 3;

  std::vector<float> h_a(elements);
  read_binary("data/a.bin", h_a.data(), elements);

  float* d_a;
  float* d_inverse;
  float* d_det;
  cudaMalloc(&d_a, elements * sizeof(float));
  cudaMalloc(&d_inverse, elements * sizeof(float));
  cudaMalloc(&d_det, sizeof(float) * COUNT);
  cudaMemcpy(d_a, h_a.data(), elements * sizeof(float), cudaMemcpyHostToDevice);

  const int threads = 256;
  const int blocks = (COUNT + threads - 1) / threads;
  invert<<<blocks, threads>>>(d_a, d_inverse, d_det, COUNT);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  std::vector<float> h_inverse(elements);
  cudaMemcpy(h_inverse.data(), d_inverse, elements * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/inverse.bin", h_inverse.data(), elements);
  std::vector<float> h_det(COUNT);
  cudaMemcpy(h_det.data(), d_det, sizeof(float) * COUNT, cudaMemcpyDeviceToHost);
  write_binary("data/det.bin", h_det.data(), COUNT);

  cudaFree(d_a);
  cudaFree(d_inverse);
  cudaFree(d_det);
  return 0;
}
