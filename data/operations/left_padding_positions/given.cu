#define BATCH 40
#define LENGTH 128
#define PAD_TOKEN 50256

__global__ void pad_left(const int* tokens, const int* lengths, int* padded, int* position,
                         unsigned char* mask, int length) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int b = blockIdx.y;
  if (t >= length) return;
  int source = t - (length - lengths[b]);
  int i = b * length + t;
  if (source >= 0) {
    padded[i] = tokens[b * length + source];
    position[i] = source;
    mask[i] = 1;
  } else {
    padded[i] = PAD_TOKEN;
    position[i] = 0;
    mask[i] = 0;
  }
}

int main() {
  const size_t total = BATCH * LENGTH;
  int* h_tokens = new int[total];
  int* h_lengths = new int[BATCH];
  read_binary("data/tokens.bin", reinterpret_cast<float*>(h_tokens), total);
  read_binary("data/lengths.bin", reinterpret_cast<float*>(h_lengths), BATCH);
  int *d_tokens, *d_lengths, *d_padded, *d_position;
  unsigned char *d_mask;
  cudaMalloc(&d_tokens, total * sizeof(int));
  cudaMalloc(&d_lengths, BATCH * sizeof(int));
  cudaMalloc(&d_padded, total * sizeof(int));
  cudaMalloc(&d_position, total * sizeof(int));
  cudaMalloc(&d_mask, total * sizeof(unsigned char));
  cudaMemcpy(d_tokens, h_tokens, total * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_lengths, h_lengths, BATCH * sizeof(int), cudaMemcpyHostToDevice);

  const int threads = 128;
  dim3 grid((LENGTH + threads - 1) / threads, BATCH);
  pad_left<<<grid, threads>>>(d_tokens, d_lengths, d_padded, d_position, d_mask, LENGTH);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  int* h_padded = new int[total];
  cudaMemcpy(h_padded, d_padded, total * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/padded.bin", reinterpret_cast<const float*>(h_padded), total);
  int* h_position = new int[total];
  cudaMemcpy(h_position, d_position, total * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/position.bin", reinterpret_cast<const float*>(h_position), total);
  unsigned char* h_mask = new unsigned char[total];
  cudaMemcpy(h_mask, d_mask, total * sizeof(unsigned char), cudaMemcpyDeviceToHost);
  std::ofstream out("data/mask.bin", std::ios::binary);
  out.write(reinterpret_cast<const char*>(h_mask), total);

  cudaFree(d_tokens);
  delete[] h_tokens;
  cudaFree(d_lengths);
  delete[] h_lengths;
  cudaFree(d_padded);
  delete[] h_padded;
  cudaFree(d_position);
  delete[] h_position;
  cudaFree(d_mask);
  delete[] h_mask;
  return 0;
}
