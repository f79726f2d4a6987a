constexpr int PLANES = 3;
constexpr int HEIGHT = 70;
constexpr int WIDTH = 61;
constexpr int OUT_H = (HEIGHT + 2) / 3;
constexpr int OUT_W = (WIDTH + 2) / 3;

__global__ void top_two_pool(const float* x, float* pooled, float* gap, int height, int width,
                             int out_h, int out_w) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int plane = blockIdx.z;
  if (i >= out_h || j >= out_w) return;
  const float* p = x + (size_t)plane * height * width;
  float first = -INFINITY, second = -INFINITY;
  for (int r = 3 * i; r < 3 * i + 3 && r < height; ++r) {
    for (int c = 3 * j; c < 3 * j + 3 && c < width; ++c) {
      float v = p[r * width + c];
      if (v > first) {
        second = first;
        first = v;
      } else if (v > second) {
        second = v;
      }
    }
  }
  if (second == -INFINITY) second = first;
  size_t at = ((size_t)plane * out_h + i) * out_w + j;
  pooled[at] = 0.5f * (first + second);
  gap[at] = first - second;
}

int main() {
  const int x_count = PLANES * HEIGHT * WIDTH;
  const int numel = PLANES * OUT_H * OUT_W;

  float* h_x = new float[x_count];
  read_binary("data/x.bin", h_x, x_count);

  float *d_x, *d_pooled, *d_gap;
  cudaMalloc(&d_x, x_count * sizeof(float));
  cudaMemcpy(d_x, h_x, x_count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_pooled, numel * sizeof(float));
  cudaMalloc(&d_gap, numel * sizeof(float));

  dim3 block(32, 8);
  dim3 grid((OUT_W + 31) / 32, (OUT_H + 7) / 8, PLANES);
  top_two_pool<<<grid, block>>>(d_x, d_pooled, d_gap, HEIGHT, WIDTH, OUT_H, OUT_W);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  float* h_pooled = new float[numel];
  float* h_gap = new float[numel];
  cudaMemcpy(h_pooled, d_pooled, numel * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_gap, d_gap, numel * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/pooled.bin", h_pooled, numel);
  write_binary("data/gap.bin", h_gap, numel);

  cudaFree(d_x);
  delete[] h_x;
  cudaFree(d_pooled);
  delete[] h_pooled;
  cudaFree(d_gap);
  delete[] h_gap;
  return 0;
}
