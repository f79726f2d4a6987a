const int RESONATORS = 100;
const int SAMPLES = 600;

__global__ void run_resonators(const float* x, const float* a1, const float* a2, float* energy, float* last,
                               int resonators, int samples) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= resonators) return;
  float before = 0.0f;
  float earlier = 0.0f;
  float sum = 0.0f;
  for (int t = 0; t < samples; ++t) {
    float y = x[t] + a1[r] * before + a2[r] * earlier;
    earlier = before;
    before = y;
    sum += y * y;
  }
  energy[r] = sum / samples;
  last[r] = before;
}

int main() {
  float* h_x = new float[SAMPLES];
  float* h_a1 = new float[RESONATORS];
  float* h_a2 = new float[RESONATORS];
  read_binary("data/x.bin", h_x, SAMPLES);
  read_binary("data/a1.bin", h_a1, RESONATORS);
  read_binary("data/a2.bin", h_a2, RESONATORS);
  float *d_x, *d_a1, *d_a2, *d_energy, *d_last;
  cudaMalloc(&d_x, SAMPLES * sizeof(float));
  cudaMalloc(&d_a1, RESONATORS * sizeof(float));
  cudaMalloc(&d_a2, RESONATORS * sizeof(float));
  cudaMalloc(&d_energy, RESONATORS * sizeof(float));
  cudaMalloc(&d_last, RESONATORS * sizeof(float));
  cudaMemcpy(d_x, h_x, SAMPLES * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_a1, h_a1, RESONATORS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_a2, h_a2, RESONATORS * sizeof(float), cudaMemcpyHostToDevice);

  const int block = 128;
  const int grid = (RESONATORS + block - 1) / block;
  run_resonators<<<grid, block>>>(d_x, d_a1, d_a2, d_energy, d_last, RESONATORS, SAMPLES);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  float* h_energy = new float[RESONATORS];
  cudaMemcpy(h_energy, d_energy, RESONATORS * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/energy.bin", h_energy, RESONATORS);
  float* h_last = new float[RESONATORS];
  cudaMemcpy(h_last, d_last, RESONATORS * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/last.bin", h_last, RESONATORS);

  cudaFree(d_x);
  cudaFree(d_a1);
  cudaFree(d_a2);
  cudaFree(d_energy);
  cudaFree(d_last);
  delete[] h_x;
  delete[] h_a1;
  delete[] h_a2;
  delete[] h_energy;
  delete[] h_last;
  return 0;
}
