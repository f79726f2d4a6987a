const int HEIGHT = 160;
const int WIDTH = 200;

__global__ void majority_vote(const uint8_t* labels, uint8_t* winner, int* votes, int height, int width) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= height / 4 || c >= width / 4) return;
  int count[16] = {0};
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) {
      count[labels[(4 * r + a) * width + 4 * c + b]]++;
    }
  }
  int best = 0;
  for (int k = 1; k < 16; ++k) {
    if (count[k] > count[best]) best = k;
  }
  winner[r * (width / 4) + c] = (uint8_t)best;
  votes[r * (width / 4) + c] = count[best];
}

int main() {
  const size_t labels_total = HEIGHT * WIDTH;
  const int size = (HEIGHT / 4) * (WIDTH / 4);
  const size_t labels_floats = (labels_total + 3) / 4;
  uint8_t* h_labels = new uint8_t[4 * labels_floats];
  uint8_t* h_winner = new uint8_t[size];
  int* h_votes = new int[size];
  read_binary("data/labels.bin", reinterpret_cast<float*>(h_labels), labels_floats);

  uint8_t* d_labels = nullptr;
  cudaMalloc(&d_labels, labels_total * sizeof(uint8_t));
  cudaMemcpy(d_labels, h_labels, labels_total * sizeof(uint8_t), cudaMemcpyHostToDevice);
  uint8_t* d_winner = nullptr;
  cudaMalloc(&d_winner, size * sizeof(uint8_t));
  int* d_votes = nullptr;
  cudaMalloc(&d_votes, size * sizeof(int));

  dim3 block(16, 16);
  dim3 grid((WIDTH / 4 + 15) / 16, (HEIGHT / 4 + 15) / 16);
  majority_vote<<<grid, block>>>(d_labels, d_winner, d_votes, HEIGHT, WIDTH);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::cerr << "CUDA error\n";
    return 1;
  }

  cudaMemcpy(h_winner, d_winner, size * sizeof(uint8_t), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_votes, d_votes, size * sizeof(int), cudaMemcpyDeviceToHost);
  std::ofstream out("data/winner.bin", std::ios::binary);
  out.write(reinterpret_cast<const char*>(h_winner), size);
  write_binary("data/votes.bin", reinterpret_cast<const float*>(h_votes), size);

  cudaFree(d_labels);
  delete[] h_labels;
  cudaFree(d_winner);
  delete[] h_winner;
  cudaFree(d_votes);
  delete[] h_votes;
  return 0;
}
