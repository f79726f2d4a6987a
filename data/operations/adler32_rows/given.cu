static const int ROWS = 60;
static const int WIDTH = 700;

__global__ void adler32(const unsigned char* blocks, unsigned int* checksum, int rows, int width) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    const unsigned char* row = blocks + (size_t)r * width;
    unsigned int a = 1, b = 0;
    for (int i = 0; i < width; ++i) {
      a = (a + row[i]) % 65521u;
      b = (b + a) % 65521u;
    }
    checksum[r] = (b << 16) | a;
  }
}

int main() {
  const int size = ROWS * WIDTH;
  const size_t blocks_floats = (size + 3) / 4;

  std::vector<unsigned char> h_blocks(4 * blocks_floats);
  std::vector<unsigned int> h_checksum(ROWS);
  read_binary("data/blocks.bin", reinterpret_cast<float*>(h_blocks.data()), blocks_floats);

  unsigned char* d_blocks;
  cudaMalloc(&d_blocks, size * sizeof(unsigned char));
  cudaMemcpy(d_blocks, h_blocks.data(), size * sizeof(unsigned char), cudaMemcpyHostToDevice);
  unsigned int* d_checksum;
  cudaMalloc(&d_checksum, ROWS * sizeof(unsigned int));

  int threads = 128;
  int blocks = (ROWS + threads - 1) / threads;
  adler32<<<blocks, threads>>>(d_blocks, d_checksum, ROWS, WIDTH);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_checksum.data(), d_checksum, ROWS * sizeof(unsigned int), cudaMemcpyDeviceToHost);
  write_binary("data/checksum.bin", reinterpret_cast<const float*>(h_checksum.data()), ROWS);

  cudaFree(d_blocks);
  cudaFree(d_checksum);
  return 0;
}
