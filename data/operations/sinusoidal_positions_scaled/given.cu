const int VOCAB = 200;
const int WIDTH = 64;
const int BATCH = 4;
const int STEPS = 100;

__global__ void embed_tokens(const float* table, const int* tokens, float* hidden, int n, int steps, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int d = i % width;
  int position = i / width;
  int t = position % steps;
  int even = d - d % 2;
  float w = powf(10000.0f, -(float)even / width);
  float p = d % 2 == 0 ? sinf(t * w) : cosf(t * w);
  hidden[i] = sqrtf((float)width) * table[tokens[position] * width + d] + p;
}

int main() {
  const int hidden_total = BATCH * STEPS * WIDTH;

  std::vector<float> h_table(VOCAB * WIDTH);
  std::vector<int> h_tokens(BATCH * STEPS);
  read_binary("data/table.bin", h_table.data(), VOCAB * WIDTH);
  read_binary("data/tokens.bin", reinterpret_cast<float*>(h_tokens.data()), BATCH * STEPS);
  float *d_table, *d_hidden;
  int *d_tokens;
  cudaMalloc(&d_table, VOCAB * WIDTH * sizeof(float));
  cudaMalloc(&d_tokens, BATCH * STEPS * sizeof(int));
  cudaMalloc(&d_hidden, hidden_total * sizeof(float));
  cudaMemcpy(d_table, h_table.data(), VOCAB * WIDTH * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_tokens, h_tokens.data(), BATCH * STEPS * sizeof(int), cudaMemcpyHostToDevice);

  const int threads = 256;
  const int blocks = (hidden_total + threads - 1) / threads;
  embed_tokens<<<blocks, threads>>>(d_table, d_tokens, d_hidden, hidden_total, STEPS, WIDTH);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::cerr << "GPU error" << std::endl;
    return 1;
  }

  std::vector<float> h_hidden(hidden_total);
  cudaMemcpy(h_hidden.data(), d_hidden, hidden_total * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/hidden.bin", h_hidden.data(), hidden_total);

  cudaFree(d_table);
  cudaFree(d_tokens);
  cudaFree(d_hidden);
  return 0;
}
