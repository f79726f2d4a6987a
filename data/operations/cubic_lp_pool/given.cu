const int PLANES = 4;
const int HEIGHT = 90;
const int WIDTH = 120;
const int OUT_H = (HEIGHT - 3) / 2 + 1;
const int OUT_W = (WIDTH - 3) / 2 + 1;

__global__ void lp_pool(const float* x, float* y) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int k = blockIdx.z;
  if (i >= OUT_H || j >= OUT_W) return;
  const float* plane = x + (size_t)k * HEIGHT * WIDTH;
  float sum = 0.0f;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      float v = fabsf(plane[(2 * i + a) * WIDTH + 2 * j + b]);
      sum += v * v * v;
    }
  }
  y[((size_t)k * OUT_H + i) * OUT_W + j] = cbrtf(sum);
}

int main() {
  const int x_size = PLANES * HEIGHT * WIDTH;
  const size_t y_total = PLANES * OUT_H * OUT_W;
  float* h_x = new float[x_size];
  read_binary("data/x.bin", h_x, x_size);

  float* d_x;
  float* d_y;
  cudaMalloc(&d_x, x_size * sizeof(float));
  cudaMemcpy(d_x, h_x, x_size * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_y, y_total * sizeof(float));

  dim3 block(16, 16);
  dim3 grid((OUT_W + 15) / 16, (OUT_H + 15) / 16, PLANES);
  lp_pool<<<grid, block>>>(d_x, d_y);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  float* h_y = new float[y_total];
  cudaMemcpy(h_y, d_y, y_total * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/y.bin", h_y, y_total);

  cudaFree(d_x);
  delete[] h_x;
  cudaFree(d_y);
  delete[] h_y;
  return 0;
}
