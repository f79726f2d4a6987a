#define PAIRS 2000

__global__ void collide(const float* state, const float* mass, float* speed, float* lost, int pairs) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= pairs) return;
  const float* s = state + 8 * p;
  float m1 = mass[2 * p];
  float m2 = mass[2 * p + 1];
  float nx = s[2] - s[0];
  float ny = s[3] - s[1];
  float length = sqrtf(nx * nx + ny * ny);
  nx /= length;
  ny /= length;
  float approach = (s[4] - s[6]) * nx + (s[5] - s[7]) * ny;
  float impulse = 0.0f;
  float energy = 0.0f;
  if (approach > 0.0f) {
    float inverse = 1.0f / m1 + 1.0f / m2;
    impulse = 1.8f * approach / inverse;
    energy = 0.18f * approach * approach / inverse;
  }
  speed[4 * p] = s[4] - impulse * nx / m1;
  speed[4 * p + 1] = s[5] - impulse * ny / m1;
  speed[4 * p + 2] = s[6] + impulse * nx / m2;
  speed[4 * p + 3] = s[7] + impulse * ny / m2;
  lost[p] = energy;
}

int main() {
  const int mass_size = PAIRS * 2;
  float* h_state = new float[PAIRS * 8];
  float* h_mass = new float[mass_size];
  float* h_speed = new float[PAIRS * 4];
  float* h_lost = new float[PAIRS];
  read_binary("data/state.bin", h_state, PAIRS * 8);
  read_binary("data/mass.bin", h_mass, mass_size);

  float* d_state;
  float* d_mass;
  float* d_speed;
  float* d_lost;
  cudaMalloc(&d_state, PAIRS * 8 * sizeof(float));
  cudaMalloc(&d_mass, mass_size * sizeof(float));
  cudaMalloc(&d_speed, PAIRS * 4 * sizeof(float));
  cudaMalloc(&d_lost, PAIRS * sizeof(float));
  cudaMemcpy(d_state, h_state, PAIRS * 8 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_mass, h_mass, mass_size * sizeof(float), cudaMemcpyHostToDevice);

  collide<<<(PAIRS + 255) / 256, 256>>>(d_state, d_mass, d_speed, d_lost, PAIRS);
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }

  cudaMemcpy(h_speed, d_speed, PAIRS * 4 * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/speed.bin", h_speed, PAIRS * 4);
  cudaMemcpy(h_lost, d_lost, PAIRS * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/lost.bin", h_lost, PAIRS);

  cudaFree(d_state);
  cudaFree(d_mass);
  cudaFree(d_speed);
  cudaFree(d_lost);
  delete[] h_state;
  delete[] h_mass;
  delete[] h_speed;
  delete[] h_lost;
  return 0;
}
