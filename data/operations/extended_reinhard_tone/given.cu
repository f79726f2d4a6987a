const int FRAMES = 4;
const int PIXELS = 2000;

__device__ float luminance(const float* rgb) {
  return 0.2126f * rgb[0] + 0.7152f * rgb[1] + 0.0722f * rgb[2];
}

__global__ void frame_white(const float* hdr, float* white, int pixels) {
  __shared__ float largest[256];
  int t = threadIdx.x;
  const float* frame = hdr + (size_t)blockIdx.x * pixels * 3;
  float value = 0.0f;
  for (int p = t; p < pixels; p += 256) value = fmaxf(value, luminance(frame + 3 * p));
  largest[t] = value;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) largest[t] = fmaxf(largest[t], largest[t + s]);
    __syncthreads();
  }
  if (t == 0) white[blockIdx.x] = largest[0];
}

__global__ void map_tones(const float* hdr, const float* white, unsigned char* ldr, int frames, int pixels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= frames * pixels) return;
  float w = white[i / pixels];
  float l = luminance(hdr + 3 * i);
  float k = (1.0f + l / (w * w)) / (1.0f + l);
  for (int c = 0; c < 3; ++c) {
    float v = fminf(hdr[3 * i + c] * k, 1.0f);
    ldr[3 * i + c] = (unsigned char)(255.0f * sqrtf(v) + 0.5f);
  }
}

int main() {
  const int count = FRAMES * PIXELS * 3;
  float* h_hdr = new float[count];
  read_binary("data/hdr.bin", h_hdr, count);
  float* d_hdr;
  cudaMalloc(&d_hdr, count * sizeof(float));
  cudaMemcpy(d_hdr, h_hdr, count * sizeof(float), cudaMemcpyHostToDevice);

  unsigned char* h_ldr = new unsigned char[count];
  unsigned char* d_ldr;
  cudaMalloc(&d_ldr, count * sizeof(unsigned char));
  float* h_white = new float[FRAMES];
  float* d_white;
  cudaMalloc(&d_white, sizeof(float) * FRAMES);

  frame_white<<<FRAMES, 256>>>(d_hdr, d_white, PIXELS);
  int blocks = (FRAMES * PIXELS + 255) / 256;
  map_tones<<<blocks, 256>>>(d_hdr, d_white, d_ldr, FRAMES, PIXELS);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "launch failed: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_ldr, d_ldr, count * sizeof(unsigned char), cudaMemcpyDeviceToHost);
  std::ofstream ldr_file("data/ldr.bin", std::ios::binary);
  ldr_file.write(reinterpret_cast<const char*>(h_ldr), count);
  cudaMemcpy(h_white, d_white, sizeof(float) * FRAMES, cudaMemcpyDeviceToHost);
  write_binary("data/white.bin", h_white, FRAMES);

  delete[] h_hdr;
  delete[] h_ldr;
  delete[] h_white;
  cudaFree(d_hdr);
  cudaFree(d_ldr);
  cudaFree(d_white);
  return 0;
}
