constexpr int kFrames = 3;
constexpr int kHeight = 40;
constexpr int kWidth = 51;
constexpr int kArea = kHeight * kWidth;

__global__ void render(const unsigned char* codes, const float* palette, const float* background,
                       float* rgb, int frames, int area) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= frames * area) return;
  int frame = i / area;
  int pixel = i % area;
  int code = codes[i];
  const float* color = palette + (frame * 256 + code) * 4;
  float a = code == 0 ? 0.0f : color[3];
  for (int c = 0; c < 3; c++) {
    rgb[(frame * 3 + c) * area + pixel] = a * color[c] + (1.0f - a) * background[c * area + pixel];
  }
}

int main() {
  const int codes_total = kFrames * kHeight * kWidth;
  const size_t background_total = 3 * kHeight * kWidth;
  const int rgb_total = kFrames * 3 * kHeight * kWidth;
  const size_t codes_floats = (codes_total + 3) / 4;

  std::vector<unsigned char> h_codes(4 * codes_floats);
  read_binary("data/codes.bin", reinterpret_cast<float*>(h_codes.data()), codes_floats);
  std::vector<float> h_palette(kFrames * 256 * 4);
  read_binary("data/palette.bin", h_palette.data(), kFrames * 256 * 4);
  std::vector<float> h_background(background_total);
  read_binary("data/background.bin", h_background.data(), background_total);
  std::vector<float> h_rgb(rgb_total);

  unsigned char* d_codes;
  float* d_palette;
  float* d_background;
  float* d_rgb;
  cudaMalloc(&d_codes, codes_total * sizeof(unsigned char));
  cudaMalloc(&d_palette, kFrames * 256 * 4 * sizeof(float));
  cudaMalloc(&d_background, background_total * sizeof(float));
  cudaMalloc(&d_rgb, rgb_total * sizeof(float));
  cudaMemcpy(d_codes, h_codes.data(), codes_total * sizeof(unsigned char), cudaMemcpyHostToDevice);
  cudaMemcpy(d_palette, h_palette.data(), kFrames * 256 * 4 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_background, h_background.data(), background_total * sizeof(float), cudaMemcpyHostToDevice);

  const int block = 256;
  const int grid = (codes_total + block - 1) / block;
  render<<<grid, block>>>(d_codes, d_palette, d_background, d_rgb, kFrames, kArea);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::cerr << "error" << std::endl;
    return 1;
  }

  cudaMemcpy(h_rgb.data(), d_rgb, rgb_total * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/rgb.bin", h_rgb.data(), rgb_total);

  cudaFree(d_codes);
  cudaFree(d_palette);
  cudaFree(d_background);
  cudaFree(d_rgb);
  return 0;
}
