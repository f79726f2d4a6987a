constexpr int N = 400;

__global__ void check_boards(const unsigned char* boards, int* conflicts, unsigned char* status, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned char* b = boards + (size_t)i * 81;
  int pairs = 0, empty = 0;
  for (int unit = 0; unit < 27; ++unit) {
    int seen[10] = {0};
    for (int k = 0; k < 9; ++k) {
      int r, c;
      if (unit < 9) { r = unit; c = k; }
      else if (unit < 18) { r = k; c = unit - 9; }
      else { r = (unit - 18) / 3 * 3 + k / 3; c = (unit - 18) % 3 * 3 + k % 3; }
      int d = b[r * 9 + c];
      if (d == 0) ++empty;
      else pairs += seen[d]++;
    }
  }
  conflicts[i] = pairs;
  status[i] = pairs > 0 ? 0 : (empty > 0 ? 1 : 2);
}

int main() {
  const size_t numel = N * 9 * 9;
  const size_t boards_floats = (numel + 3) / 4;

  unsigned char* h_boards = new unsigned char[4 * boards_floats];
  read_binary("data/boards.bin", reinterpret_cast<float*>(h_boards), boards_floats);
  unsigned char* d_boards = nullptr;
  cudaMalloc(&d_boards, numel * sizeof(unsigned char));
  cudaMemcpy(d_boards, h_boards, numel * sizeof(unsigned char), cudaMemcpyHostToDevice);

  int* h_conflicts = new int[N];
  int* d_conflicts = nullptr;
  cudaMalloc(&d_conflicts, sizeof(int) * N);
  unsigned char* h_status = new unsigned char[N];
  unsigned char* d_status = nullptr;
  cudaMalloc(&d_status, sizeof(unsigned char) * N);

  int block = 128;
  check_boards<<<(N + block - 1) / block, block>>>(d_boards, d_conflicts, d_status, N);
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }

  cudaMemcpy(h_conflicts, d_conflicts, sizeof(int) * N, cudaMemcpyDeviceToHost);
  write_binary("data/conflicts.bin", reinterpret_cast<const float*>(h_conflicts), N);
  cudaMemcpy(h_status, d_status, sizeof(unsigned char) * N, cudaMemcpyDeviceToHost);
  std::ofstream status_file("data/status.bin", std::ios::binary);
  status_file.write(reinterpret_cast<const char*>(h_status), N);

  delete[] h_boards;
  delete[] h_conflicts;
  delete[] h_status;
  cudaFree(d_boards);
  cudaFree(d_conflicts);
  cudaFree(d_status);
  return 0;
}
