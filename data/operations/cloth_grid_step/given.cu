const int ROWS = 30;
const int COLS = 40;
const int NUMBERS = ROWS * COLS * 3;

__device__ void add_spring(const float* p, int self, int other, float* force) {
  float d[3];
  float square = 0.0f;
  for (int k = 0; k < 3; ++k) {
    d[k] = p[3 * other + k] - p[3 * self + k];
    square += d[k] * d[k];
  }
  float pull = 80.0f * (1.0f - 1.0f / sqrtf(square));
  for (int k = 0; k < 3; ++k) force[k] += pull * d[k];
}

__global__ void cloth_step(const float* p, float* p_next, float* v, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  int i = r * cols + c;
  if (r == 0) {
    for (int k = 0; k < 3; ++k) p_next[3 * i + k] = p[3 * i + k];
    return;
  }
  float force[3] = {-0.5f * v[3 * i], -0.5f * v[3 * i + 1], -0.5f * v[3 * i + 2] - 9.81f};
  add_spring(p, i, i - cols, force);
  if (r < rows - 1) add_spring(p, i, i + cols, force);
  if (c > 0) add_spring(p, i, i - 1, force);
  if (c < cols - 1) add_spring(p, i, i + 1, force);
  for (int k = 0; k < 3; ++k) {
    v[3 * i + k] += 0.01f * force[k];
    p_next[3 * i + k] = p[3 * i + k] + 0.01f * v[3 * i + k];
  }
}

int main() {
  float* h_position = new float[NUMBERS];
  float* h_velocity = new float[NUMBERS];
  float* h_new_position = new float[NUMBERS];
  float* h_new_velocity = new float[NUMBERS];
  read_binary("data/position.bin", h_position, NUMBERS);
  read_binary("data/velocity.bin", h_velocity, NUMBERS);

  float* d_position;
  cudaMalloc(&d_position, NUMBERS * sizeof(float));
  cudaMemcpy(d_position, h_position, NUMBERS * sizeof(float), cudaMemcpyHostToDevice);
  float* d_velocity;
  cudaMalloc(&d_velocity, NUMBERS * sizeof(float));
  cudaMemcpy(d_velocity, h_velocity, NUMBERS * sizeof(float), cudaMemcpyHostToDevice);
  float* d_new_position;
  cudaMalloc(&d_new_position, NUMBERS * sizeof(float));
  float* d_new_velocity;
  cudaMalloc(&d_new_velocity, NUMBERS * sizeof(float));
  float* d_scratch;
  cudaMalloc(&d_scratch, NUMBERS * sizeof(float));

  cudaMemcpy(d_new_velocity, d_velocity, NUMBERS * sizeof(float), cudaMemcpyDeviceToDevice);
  dim3 block(32, 8);
  dim3 grid((COLS + 31) / 32, (ROWS + 7) / 8);
  const float* from = d_position;
  for (int step = 0; step < 4; ++step) {
    float* to = step % 2 == 0 ? d_scratch : d_new_position;
    cloth_step<<<grid, block>>>(from, to, d_new_velocity, ROWS, COLS);
    from = to;
  }
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_new_position, d_new_position, NUMBERS * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_new_velocity, d_new_velocity, NUMBERS * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/new_position.bin", h_new_position, NUMBERS);
  write_binary("data/new_velocity.bin", h_new_velocity, NUMBERS);

  cudaFree(d_position);
  cudaFree(d_velocity);
  cudaFree(d_new_position);
  cudaFree(d_new_velocity);
  cudaFree(d_scratch);
  delete[] h_position;
  delete[] h_velocity;
  delete[] h_new_position;
  delete[] h_new_velocity;
  return 0;
}
