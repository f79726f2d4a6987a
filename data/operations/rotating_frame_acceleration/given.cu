constexpr int kBodies = 3000;

__device__ void cross(const float* a, const float* b, float* c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

__global__ void apparent_forces(const float* position, const float* velocity, const float* spin,
                float* apparent, int bodies) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= bodies) return;
  const float* r = position + 3 * i;
  const float* v = velocity + 3 * i;
  float coriolis[3], swing[3], centrifugal[3], euler[3];
  cross(spin, v, coriolis);
  cross(spin, r, swing);
  cross(spin, swing, centrifugal);
  cross(spin + 3, r, euler);
  for (int k = 0; k < 3; ++k) {
    apparent[3 * i + k] = -2.0f * coriolis[k] - centrifugal[k] - euler[k];
  }
}

int main() {
  const int count = kBodies * 3;
  const int spin_count = 2 * 3;
  const size_t bytes = count * sizeof(float);
  float* h_position = new float[count];
  float* h_velocity = new float[count];
  float* h_spin = new float[spin_count];
  float* h_apparent = new float[count];
  read_binary("data/position.bin", h_position, count);
  read_binary("data/velocity.bin", h_velocity, count);
  read_binary("data/spin.bin", h_spin, spin_count);

  float* d_position;
  cudaMalloc(&d_position, bytes);
  cudaMemcpy(d_position, h_position, bytes, cudaMemcpyHostToDevice);
  float* d_velocity;
  cudaMalloc(&d_velocity, bytes);
  cudaMemcpy(d_velocity, h_velocity, bytes, cudaMemcpyHostToDevice);
  float* d_spin;
  cudaMalloc(&d_spin, spin_count * sizeof(float));
  cudaMemcpy(d_spin, h_spin, spin_count * sizeof(float), cudaMemcpyHostToDevice);
  float* d_apparent;
  cudaMalloc(&d_apparent, bytes);

  int threads = 256;
  int blocks = (kBodies + threads - 1) / threads;
  apparent_forces<<<blocks, threads>>>(d_position, d_velocity, d_spin, d_apparent, kBodies);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::cerr << "GPU error\n";
    return 1;
  }

  cudaMemcpy(h_apparent, d_apparent, bytes, cudaMemcpyDeviceToHost);
  write_binary("data/apparent.bin", h_apparent, count);

  cudaFree(d_position);
  delete[] h_position;
  cudaFree(d_velocity);
  delete[] h_velocity;
  cudaFree(d_spin);
  delete[] h_spin;
  cudaFree(d_apparent);
  delete[] h_apparent;
  return 0;
}
