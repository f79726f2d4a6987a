const int N = 15001;

__global__ void convert_codes(const uint32_t* number, const uint32_t* gray, uint32_t* encoded,
                              uint32_t* decoded, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    encoded[i] = number[i] ^ (number[i] >> 1);
    uint32_t value = gray[i];
    value ^= value >> 1;
    value ^= value >> 2;
    value ^= value >> 4;
    value ^= value >> 8;
    value ^= value >> 16;
    decoded[i] = value;
  }
}

int main() {
  uint32_t* h_number = new uint32_t[N];
  uint32_t* h_gray = new uint32_t[N];
  read_binary("data/number.bin", reinterpret_cast<float*>(h_number), N);
  read_binary("data/gray.bin", reinterpret_cast<float*>(h_gray), N);
  uint32_t* d_number;
  uint32_t* d_gray;
  uint32_t* d_encoded;
  uint32_t* d_decoded;
  cudaMalloc(&d_number, N * sizeof(uint32_t));
  cudaMalloc(&d_gray, N * sizeof(uint32_t));
  cudaMalloc(&d_encoded, N * sizeof(uint32_t));
  cudaMalloc(&d_decoded, N * sizeof(uint32_t));
  cudaMemcpy(d_number, h_number, N * sizeof(uint32_t), cudaMemcpyHostToDevice);
  cudaMemcpy(d_gray, h_gray, N * sizeof(uint32_t), cudaMemcpyHostToDevice);

  dim3 block(256);
  dim3 grid((N + 255) / 256);
  convert_codes<<<grid, block>>>(d_number, d_gray, d_encoded, d_decoded, N);
  cudaDeviceSynchronize();

  uint32_t* h_encoded = new uint32_t[N];
  cudaMemcpy(h_encoded, d_encoded, N * sizeof(uint32_t), cudaMemcpyDeviceToHost);
  write_binary("data/encoded.bin", reinterpret_cast<const float*>(h_encoded), N);
  uint32_t* h_decoded = new uint32_t[N];
  cudaMemcpy(h_decoded, d_decoded, N * sizeof(uint32_t), cudaMemcpyDeviceToHost);
  write_binary("data/decoded.bin", reinterpret_cast<const float*>(h_decoded), N);

  delete[] h_number;
  delete[] h_gray;
  delete[] h_encoded;
  delete[] h_decoded;
  cudaFree(d_number);
  cudaFree(d_gray);
  cudaFree(d_encoded);
  cudaFree(d_decoded);
  return 0;
}
