#define MAPS 5
#define POINTS 1200

__global__ void moebius_kernel(const float* z, const float* coef, float* w, int points) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  int m = blockIdx.y;
  if (p >= points) return;
  const float* k = coef + 8 * m;
  float re = z[2 * p];
  float im = z[2 * p + 1];
  float top_re = k[0] * re - k[1] * im + k[2];
  float top_im = k[0] * im + k[1] * re + k[3];
  float low_re = k[4] * re - k[5] * im + k[6];
  float low_im = k[4] * im + k[5] * re + k[7];
  float norm = low_re * low_re + low_im * low_im;
  int out = 2 * (m * points + p);
  w[out] = (top_re * low_re + top_im * low_im) / norm;
  w[out + 1] = (top_im * low_re - top_re * low_im) / norm;
}

int main() {
  const size_t z_count = POINTS * 2;
  const int coef_size = MAPS * 8;
  const int w_size = MAPS * POINTS * 2;

  std::vector<float> h_z(z_count);
  std::vector<float> h_coef(coef_size);
  std::vector<float> h_w(w_size);
  read_binary("data/z.bin", h_z.data(), z_count);
  read_binary("data/coef.bin", h_coef.data(), coef_size);

  float* d_z;
  cudaMalloc(&d_z, z_count * sizeof(float));
  cudaMemcpy(d_z, h_z.data(), z_count * sizeof(float), cudaMemcpyHostToDevice);
  float* d_coef;
  cudaMalloc(&d_coef, coef_size * sizeof(float));
  cudaMemcpy(d_coef, h_coef.data(), coef_size * sizeof(float), cudaMemcpyHostToDevice);
  float* d_w;
  cudaMalloc(&d_w, w_size * sizeof(float));

  dim3 block(256);
  dim3 grid((POINTS + block.x - 1) / block.x, MAPS);
  moebius_kernel<<<grid, block>>>(d_z, d_coef, d_w, POINTS);
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "moebius kernel: " << cudaGetErrorString(status) << "\n";
    return 1;
  }

  cudaMemcpy(h_w.data(), d_w, w_size * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/w.bin", h_w.data(), w_size);

  cudaFree(d_z);
  cudaFree(d_coef);
  cudaFree(d_w);
  return 0;
}
