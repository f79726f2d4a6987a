static const int RECORDS = 2000;

__device__ unsigned int big_endian_word(const unsigned char* p) {
  return (unsigned int)p[0] << 24 | (unsigned int)p[1] << 16 | (unsigned int)p[2] << 8 | p[3];
}

__global__ void parse_records(const unsigned char* packets, unsigned int* ids, int* kinds, int* offsets,
                              float* values, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < n) {
    const unsigned char* p = packets + (size_t)r * 12;
    ids[r] = big_endian_word(p);
    kinds[r] = (p[4] << 8) | p[5];
    int offset = (p[6] << 8) | p[7];
    offsets[r] = offset >= 32768 ? offset - 65536 : offset;
    values[r] = __uint_as_float(big_endian_word(p + 8));
  }
}

int main() {
  const int total = RECORDS * 12;
  const size_t packets_floats = (total + 3) / 4;
  std::vector<unsigned char> h_packets(4 * packets_floats);
  read_binary("data/packets.bin", reinterpret_cast<float*>(h_packets.data()), packets_floats);
  std::vector<unsigned int> h_ids(RECORDS);
  std::vector<int> h_kinds(RECORDS);
  std::vector<int> h_offsets(RECORDS);
  std::vector<float> h_values(RECORDS);

  unsigned char* d_packets;
  unsigned int* d_ids;
  int* d_kinds;
  int* d_offsets;
  float* d_values;
  cudaMalloc(&d_packets, total * sizeof(unsigned char));
  cudaMalloc(&d_ids, RECORDS * sizeof(unsigned int));
  cudaMalloc(&d_kinds, RECORDS * sizeof(int));
  cudaMalloc(&d_offsets, RECORDS * sizeof(int));
  cudaMalloc(&d_values, RECORDS * sizeof(float));
  cudaMemcpy(d_packets, h_packets.data(), total * sizeof(unsigned char), cudaMemcpyHostToDevice);

  const int threads = 256;
  const int blocks = (RECORDS + threads - 1) / threads;
  parse_records<<<blocks, threads>>>(d_packets, d_ids, d_kinds, d_offsets, d_values, RECORDS);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "launch failed: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_ids.data(), d_ids, RECORDS * sizeof(unsigned int), cudaMemcpyDeviceToHost);
  write_binary("data/ids.bin", reinterpret_cast<const float*>(h_ids.data()), RECORDS);
  cudaMemcpy(h_kinds.data(), d_kinds, RECORDS * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/kinds.bin", reinterpret_cast<const float*>(h_kinds.data()), RECORDS);
  cudaMemcpy(h_offsets.data(), d_offsets, RECORDS * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/offsets.bin", reinterpret_cast<const float*>(h_offsets.data()), RECORDS);
  cudaMemcpy(h_values.data(), d_values, RECORDS * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/values.bin", h_values.data(), RECORDS);

  cudaFree(d_packets);
  cudaFree(d_ids);
  cudaFree(d_kinds);
  cudaFree(d_offsets);
  cudaFree(d_values);
  return 0;
}
