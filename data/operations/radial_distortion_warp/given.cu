constexpr int HEIGHT = 90;
constexpr int WIDTH = 120;

__global__ void radial_warp(const float* frame, const float* lens, float* warped, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float cx = lens[0], cy = lens[1];
  float u = ((float)x - cx) / (float)width;
  float v = ((float)y - cy) / (float)width;
  float q = u * u + v * v;
  float s = 1.0f + lens[2] * q + lens[3] * q * q;
  float col = fminf(fmaxf(cx + ((float)x - cx) * s, 0.0f), (float)(width - 1));
  float row = fminf(fmaxf(cy + ((float)y - cy) * s, 0.0f), (float)(height - 1));
  int c0 = (int)col;
  int r0 = (int)row;
  int c1 = min(c0 + 1, width - 1);
  int r1 = min(r0 + 1, height - 1);
  float fc = col - (float)c0;
  float fr = row - (float)r0;
  float upper = (1.0f - fc) * frame[r0 * width + c0] + fc * frame[r0 * width + c1];
  float lower = (1.0f - fc) * frame[r1 * width + c0] + fc * frame[r1 * width + c1];
  warped[y * width + x] = (1.0f - fr) * upper + fr * lower;
}

int main() {
  const size_t count = (size_t)HEIGHT * WIDTH;

  std::vector<float> h_frame(count);
  read_binary("data/frame.bin", h_frame.data(), count);
  std::vector<float> h_lens(4);
  read_binary("data/lens.bin", h_lens.data(), 4);
  std::vector<float> h_warped(count);

  float *d_frame, *d_lens, *d_warped;
  cudaMalloc(&d_frame, count * sizeof(float));
  cudaMemcpy(d_frame, h_frame.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_lens, 4 * sizeof(float));
  cudaMemcpy(d_lens, h_lens.data(), 4 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_warped, count * sizeof(float));

  dim3 block(16, 16);
  dim3 grid((WIDTH + 15) / 16, (HEIGHT + 15) / 16);
  radial_warp<<<grid, block>>>(d_frame, d_lens, d_warped, HEIGHT, WIDTH);
  cudaDeviceSynchronize();

  cudaMemcpy(h_warped.data(), d_warped, count * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/warped.bin", h_warped.data(), count);

  cudaFree(d_frame);
  cudaFree(d_lens);
  cudaFree(d_warped);
  return 0;
}
