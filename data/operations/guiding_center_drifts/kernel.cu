#include <cuda_runtime.h>
#include <cstdio>
#include <string>
#include <cstdlib>

void read_into(const std::string& filename, void* dst, size_t bytes) {
  FILE* f = fopen(filename.c_str(), "rb");
  if (f == nullptr || fread(dst, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot read %s\n", filename.c_str());
    exit(1);
  }
  fclose(f);
}

void write_from(const std::string& filename, const void* dst, size_t bytes) {
  FILE* f = fopen(filename.c_str(), "wb");
  if (f == nullptr || fwrite(dst, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", filename.c_str());
    exit(1);
  }
  fclose(f);
}
//@given

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

constexpr int PARTICLES = 1000;
constexpr int BLOCK = 128;

// The rows of a block are copied through shared memory in one run, as 3-float rows cannot be read in order directly.
__device__ void stage(const float* from, float* tile, int first, int count) {
  for (int k = threadIdx.x; k < count; k += BLOCK) tile[k] = from[first + k];
}

__global__ void drift_tiles(const float* __restrict__ electric, const float* __restrict__ magnetic,
              const float* __restrict__ velocity, const float* __restrict__ charge_mass,
              float* __restrict__ drift, float* __restrict__ radius) {
  __shared__ float e[3 * BLOCK], b[3 * BLOCK], v[3 * BLOCK];
  const int begin = blockIdx.x * BLOCK;
  const int count = 3 * min(BLOCK, PARTICLES - begin);
  stage(electric, e, 3 * begin, count);
  stage(magnetic, b, 3 * begin, count);
  stage(velocity, v, 3 * begin, count);
  __syncthreads();
  const int i = begin + threadIdx.x, o = 3 * threadIdx.x;
  if (i < PARTICLES) {
    float bx = b[o], by = b[o + 1], bz = b[o + 2];
    float inverse = 1.0f / (bx * bx + by * by + bz * bz);
    float dx = (e[o + 1] * bz - e[o + 2] * by) * inverse;
    float dy = (e[o + 2] * bx - e[o] * bz) * inverse;
    float dz = (e[o] * by - e[o + 1] * bx) * inverse;
    float wx = v[o] - dx, wy = v[o + 1] - dy, wz = v[o + 2] - dz;
    float along = (wx * bx + wy * by + wz * bz) * inverse;
    wx -= along * bx;
    wy -= along * by;
    wz -= along * bz;
    radius[i] = sqrtf((wx * wx + wy * wy + wz * wz) * inverse) / fabsf(charge_mass[i]);
    e[o] = dx;
    e[o + 1] = dy;
    e[o + 2] = dz;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < count; k += BLOCK) drift[3 * begin + k] = e[k];
}

int main() {
  float* electric = new float[PARTICLES * 3];
  float* magnetic = new float[PARTICLES * 3];
  float* velocity = new float[PARTICLES * 3];
  float* charge_mass = new float[PARTICLES];
  float* drift = new float[PARTICLES * 3];
  float* radius = new float[PARTICLES];
  read_into("data/electric.bin", electric, PARTICLES * 3 * sizeof(float));
  read_into("data/magnetic.bin", magnetic, PARTICLES * 3 * sizeof(float));
  read_into("data/velocity.bin", velocity, PARTICLES * 3 * sizeof(float));
  read_into("data/charge_mass.bin", charge_mass, PARTICLES * sizeof(float));

  float *d_electric, *d_magnetic, *d_velocity, *d_charge_mass, *d_drift, *d_radius;
  cudaMalloc(&d_electric, PARTICLES * 3 * sizeof(float));
  cudaMalloc(&d_magnetic, PARTICLES * 3 * sizeof(float));
  cudaMalloc(&d_velocity, PARTICLES * 3 * sizeof(float));
  cudaMalloc(&d_charge_mass, PARTICLES * sizeof(float));
  cudaMalloc(&d_drift, PARTICLES * 3 * sizeof(float));
  cudaMalloc(&d_radius, PARTICLES * sizeof(float));
  cudaMemcpy(d_electric, electric, PARTICLES * 3 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_magnetic, magnetic, PARTICLES * 3 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_velocity, velocity, PARTICLES * 3 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_charge_mass, charge_mass, PARTICLES * sizeof(float), cudaMemcpyHostToDevice);

  drift_tiles<<<DIV_UP(PARTICLES, BLOCK), BLOCK>>>(d_electric, d_magnetic, d_velocity, d_charge_mass,
      d_drift, d_radius);
  cudaMemcpy(drift, d_drift, PARTICLES * 3 * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(radius, d_radius, PARTICLES * sizeof(float), cudaMemcpyDeviceToHost);

  write_from("data/drift.bin", drift, PARTICLES * 3 * sizeof(float));
  write_from("data/radius.bin", radius, PARTICLES * sizeof(float));

  cudaFree(d_electric);
  cudaFree(d_magnetic);
  cudaFree(d_velocity);
  cudaFree(d_charge_mass);
  cudaFree(d_drift);
  cudaFree(d_radius);
  delete[] electric;
  delete[] magnetic;
  delete[] velocity;
  delete[] charge_mass;
  delete[] drift;
  delete[] radius;
  return 0;
}
