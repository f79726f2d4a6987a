const int COUNT = 600;
const int WIDTH = 31;
const int BLOCK = 128;

__global__ void crc8(const uint8_t* frames, const uint8_t* stored, uint8_t* crc, uint8_t* intact,
                     int count, int width) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= count) return;
  unsigned int reg = 0;
  for (int i = 0; i < width; ++i) {
    reg ^= frames[(size_t)r * width + i];
    for (int b = 0; b < 8; ++b) {
      reg <<= 1;
      if (reg & 0x100) reg ^= 0x107;
    }
  }
  crc[r] = (uint8_t)reg;
  intact[r] = reg == stored[r] ? 1 : 0;
}

int main() {
  const size_t frames_floats = (COUNT * WIDTH + 3) / 4;
  const size_t stored_floats = (COUNT + 3) / 4;

  std::vector<uint8_t> h_frames(4 * frames_floats);
  read_binary("data/frames.bin", reinterpret_cast<float*>(h_frames.data()), frames_floats);
  uint8_t* d_frames;
  cudaMalloc(&d_frames, COUNT * WIDTH * sizeof(uint8_t));
  cudaMemcpy(d_frames, h_frames.data(), COUNT * WIDTH * sizeof(uint8_t), cudaMemcpyHostToDevice);

  std::vector<uint8_t> h_stored(4 * stored_floats);
  read_binary("data/stored.bin", reinterpret_cast<float*>(h_stored.data()), stored_floats);
  uint8_t* d_stored;
  cudaMalloc(&d_stored, COUNT * sizeof(uint8_t));
  cudaMemcpy(d_stored, h_stored.data(), COUNT * sizeof(uint8_t), cudaMemcpyHostToDevice);

  std::vector<uint8_t> h_crc(COUNT);
  uint8_t* d_crc;
  cudaMalloc(&d_crc, COUNT * sizeof(uint8_t));
  std::vector<uint8_t> h_intact(COUNT);
  uint8_t* d_intact;
  cudaMalloc(&d_intact, COUNT * sizeof(uint8_t));

  const int grid = (COUNT + BLOCK - 1) / BLOCK;
  crc8<<<grid, BLOCK>>>(d_frames, d_stored, d_crc, d_intact, COUNT, WIDTH);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_crc.data(), d_crc, COUNT * sizeof(uint8_t), cudaMemcpyDeviceToHost);
  std::ofstream crc_file("data/crc.bin", std::ios::binary);
  crc_file.write(reinterpret_cast<const char*>(h_crc.data()), COUNT);
  cudaMemcpy(h_intact.data(), d_intact, COUNT * sizeof(uint8_t), cudaMemcpyDeviceToHost);
  std::ofstream intact_file("data/intact.bin", std::ios::binary);
  intact_file.write(reinterpret_cast<const char*>(h_intact.data()), COUNT);

  cudaFree(d_frames);
  cudaFree(d_stored);
  cudaFree(d_crc);
  cudaFree(d_intact);
  return 0;
}
