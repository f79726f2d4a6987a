#define N 5000

__global__ void pack_vectors(const float* v, uint32_t* packed, float* lost, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    uint32_t word = 0;
    float worst = 0.0f;
    for (int k = 0; k < 3; ++k) {
      float c = fminf(fmaxf(v[4 * i + k], 0.0f), 1.0f);
      float q = rintf(1023.0f * c);
      word |= (uint32_t)q << (10 * k);
      worst = fmaxf(worst, fabsf(c - q / 1023.0f));
    }
    float w = fminf(fmaxf(v[4 * i + 3], 0.0f), 1.0f);
    word |= (uint32_t)rintf(3.0f * w) << 30;
    packed[i] = word;
    lost[i] = worst;
  }
}

int main() {
  int total = N * 4;

  float* h_v = new float[total];
  uint32_t* h_packed = new uint32_t[N];
  float* h_lost = new float[N];
  read_binary("data/v.bin", h_v, total);

  float* d_v;
  uint32_t* d_packed;
  float* d_lost;
  cudaMalloc(&d_v, total * sizeof(float));
  cudaMalloc(&d_packed, N * sizeof(uint32_t));
  cudaMalloc(&d_lost, N * sizeof(float));

  cudaMemcpy(d_v, h_v, total * sizeof(float), cudaMemcpyHostToDevice);

  dim3 block(256);
  dim3 grid((N + block.x - 1) / block.x);
  pack_vectors<<<grid, block>>>(d_v, d_packed, d_lost, N);
  cudaError_t err = cudaGetLastError();
  if (err == cudaSuccess) err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "kernel launch failed: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_packed, d_packed, N * sizeof(uint32_t), cudaMemcpyDeviceToHost);
  write_binary("data/packed.bin", reinterpret_cast<const float*>(h_packed), N);
  cudaMemcpy(h_lost, d_lost, N * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/lost.bin", h_lost, N);

  cudaFree(d_v);
  cudaFree(d_packed);
  cudaFree(d_lost);
  delete[] h_v;
  delete[] h_packed;
  delete[] h_lost;
  return 0;
}
