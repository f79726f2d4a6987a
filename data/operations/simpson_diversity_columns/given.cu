#define ROWS 120
#define COLS 300

__global__ void simpson_columns(const float* abundance, float* diversity, float* effective, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  float sum = 0.0f;
  float squares = 0.0f;
  for (int r = 0; r < rows; ++r) {
    float a = abundance[r * cols + c];
    sum += a;
    squares += a * a;
  }
  bool empty = sum <= 0.0f;
  diversity[c] = empty ? 0.0f : 1.0f - squares / (sum * sum);
  effective[c] = empty ? 0.0f : sum * sum / squares;
}

int main() {
  int total = ROWS * COLS;

  float* d_abundance = nullptr;
  cudaMalloc((void**)&d_abundance, total * sizeof(float));
  float* d_diversity = nullptr;
  cudaMalloc((void**)&d_diversity, COLS * sizeof(float));
  float* d_effective = nullptr;
  cudaMalloc((void**)&d_effective, COLS * sizeof(float));

  float* h_abundance = new float[total];
  read_binary("data/abundance.bin", h_abundance, total);
  cudaMemcpy(d_abundance, h_abundance, total * sizeof(float), cudaMemcpyHostToDevice);

  int threads = 128;
  int blocks = (COLS + threads - 1) / threads;
  simpson_columns<<<blocks, threads>>>(d_abundance, d_diversity, d_effective, ROWS, COLS);

  float* h_diversity = new float[COLS];
  float* h_effective = new float[COLS];
  cudaMemcpy(h_diversity, d_diversity, COLS * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_effective, d_effective, COLS * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/diversity.bin", h_diversity, COLS);
  write_binary("data/effective.bin", h_effective, COLS);

  cudaFree(d_abundance);
  cudaFree(d_diversity);
  cudaFree(d_effective);

  delete[] h_abundance;
  delete[] h_diversity;
  delete[] h_effective;
  return 0;
}
