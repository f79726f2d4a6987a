#define MOLECULES 300
#define ATOMS 12

__global__ void kinetic_energy(const float* mass, const float* velocity, float* drift, float* internal,
                               int molecules, int atoms) {
  int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= molecules) return;
  const float* w = mass + m * atoms;
  const float* v = velocity + m * atoms * 3;
  float weight = 0.0f, x = 0.0f, y = 0.0f, z = 0.0f;
  for (int a = 0; a < atoms; ++a) {
    weight += w[a];
    x += w[a] * v[3 * a];
    y += w[a] * v[3 * a + 1];
    z += w[a] * v[3 * a + 2];
  }
  x /= weight;
  y /= weight;
  z /= weight;
  float energy = 0.0f;
  for (int a = 0; a < atoms; ++a) {
    float dx = v[3 * a] - x;
    float dy = v[3 * a + 1] - y;
    float dz = v[3 * a + 2] - z;
    energy += 0.5f * w[a] * (dx * dx + dy * dy + dz * dz);
  }
  drift[3 * m] = x;
  drift[3 * m + 1] = y;
  drift[3 * m + 2] = z;
  internal[m] = energy;
}

int main() {
  const int mass_count = MOLECULES * ATOMS;
  float* h_mass = new float[mass_count];
  float* h_velocity = new float[MOLECULES * ATOMS * 3];
  float* h_drift = new float[MOLECULES * 3];
  float* h_internal = new float[MOLECULES];
  read_binary("data/mass.bin", h_mass, mass_count);
  read_binary("data/velocity.bin", h_velocity, MOLECULES * ATOMS * 3);

  float *d_mass, *d_velocity, *d_drift, *d_internal;
  cudaMalloc(&d_mass, mass_count * sizeof(float));
  cudaMalloc(&d_velocity, MOLECULES * ATOMS * 3 * sizeof(float));
  cudaMalloc(&d_drift, MOLECULES * 3 * sizeof(float));
  cudaMalloc(&d_internal, MOLECULES * sizeof(float));
  cudaMemcpy(d_mass, h_mass, mass_count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_velocity, h_velocity, MOLECULES * ATOMS * 3 * sizeof(float), cudaMemcpyHostToDevice);

  int block = 128;
  int grid = (MOLECULES + block - 1) / block;
  kinetic_energy<<<grid, block>>>(d_mass, d_velocity, d_drift, d_internal, MOLECULES, ATOMS);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_drift, d_drift, MOLECULES * 3 * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/drift.bin", h_drift, MOLECULES * 3);
  cudaMemcpy(h_internal, d_internal, MOLECULES * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/internal.bin", h_internal, MOLECULES);

  cudaFree(d_mass);
  cudaFree(d_velocity);
  cudaFree(d_drift);
  cudaFree(d_internal);
  delete[] h_mass;
  delete[] h_velocity;
  delete[] h_drift;
  delete[] h_internal;
  return 0;
}
