constexpr int CHANNELS = 3;
constexpr int HEIGHT = 60;
constexpr int WIDTH = 90;
constexpr int ARM = 2;

__global__ void cross_gradient(const float* image, float* gradient, int height, int width, int arm) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float* plane = image + (size_t)blockIdx.z * height * width;
  float hi = plane[y * width + x], lo = hi;
  for (int k = -arm; k <= arm; ++k) {
    if (x + k >= 0 && x + k < width) {
      float v = plane[y * width + x + k];
      hi = fmaxf(hi, v);
      lo = fminf(lo, v);
    }
    if (y + k >= 0 && y + k < height) {
      float v = plane[(y + k) * width + x];
      hi = fmaxf(hi, v);
      lo = fminf(lo, v);
    }
  }
  gradient[((size_t)blockIdx.z * height + y) * width + x] = hi - lo;
}

int main() {
  const size_t n = CHANNELS * HEIGHT * WIDTH;
  float* h_image = new float[n];
  read_binary("data/image.bin", h_image, n);
  float* h_gradient = new float[n];

  float* d_image;
  cudaMalloc(&d_image, sizeof(float) * n);
  float* d_gradient;
  cudaMalloc(&d_gradient, sizeof(float) * n);
  cudaMemcpy(d_image, h_image, sizeof(float) * n, cudaMemcpyHostToDevice);

  const dim3 block(32, 8);
  const dim3 grid((WIDTH + 32 - 1) / 32, (HEIGHT + 8 - 1) / 8, CHANNELS);
  cross_gradient<<<grid, block>>>(d_image, d_gradient, HEIGHT, WIDTH, ARM);

  cudaMemcpy(h_gradient, d_gradient, sizeof(float) * n, cudaMemcpyDeviceToHost);
  write_binary("data/gradient.bin", h_gradient, n);

  cudaFree(d_image);
  cudaFree(d_gradient);
  delete[] h_image;
  delete[] h_gradient;
  return 0;
}
