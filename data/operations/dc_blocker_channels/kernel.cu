#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void read_binary(const std::string& path, void* buffer, size_t bytes) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(buffer), bytes)) {
    std::cerr << "Error reading " << path << std::endl;
    exit(EXIT_FAILURE);
  }
}

void write_binary(const std::string& path, const void* buffer, size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(buffer), bytes);
}
//@given

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

const int STEPS = 400;
const int CHANNELS = 96;
const int CHUNK = 64;
const int CHUNKS = (STEPS + CHUNK - 1) / CHUNK;

__device__ float run_chunk(const float* x, float a, float state, int k, int chunk, float* y) {
  int t0 = chunk * CHUNK;
  int t1 = min(t0 + CHUNK, STEPS);
  float prev = t0 > 0 ? x[(size_t)(t0 - 1) * CHANNELS + k] : 0.0f;
  for (int t = t0; t < t1; ++t) {
    float v = x[(size_t)t * CHANNELS + k];
    state = fmaf(a, state, v - prev);
    prev = v;
    if (y != nullptr) y[(size_t)t * CHANNELS + k] = state;
  }
  return state;
}

// Pass 1: every chunk of time is filtered from a zero state.
__global__ void chunk_ends(const float* x, const float* pole, float* ends) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < CHANNELS) ends[blockIdx.y * CHANNELS + k] = run_chunk(x, pole[k], 0.0f, k, blockIdx.y, nullptr);
}

// Pass 2: the true state at the start of each chunk.
__global__ void chunk_starts(const float* pole, const float* ends, float* starts) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= CHANNELS) return;
  float power = 1.0f;
  for (int i = 0; i < CHUNK; ++i) power *= pole[k];
  float state = 0.0f;
  for (int j = 0; j < CHUNKS; ++j) {
    starts[j * CHANNELS + k] = state;
    state = fmaf(power, state, ends[j * CHANNELS + k]);
  }
}

__global__ void filter_chunks(const float* x, const float* pole, const float* starts, float* y) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < CHANNELS) run_chunk(x, pole[k], starts[blockIdx.y * CHANNELS + k], k, blockIdx.y, y);
}

int main() {
  const size_t size = (size_t)STEPS * CHANNELS;
  float* h_x = new float[size];
  read_binary("data/x.bin", h_x, size * sizeof(float));
  float* h_pole = new float[CHANNELS];
  read_binary("data/pole.bin", h_pole, CHANNELS * sizeof(float));
  float* h_y = new float[size];

  float *d_x, *d_pole, *d_y;
  float* d_ends;
  float* d_starts;
  cudaMalloc(&d_x, size * sizeof(float));
  cudaMalloc(&d_pole, CHANNELS * sizeof(float));
  cudaMalloc(&d_y, size * sizeof(float));
  cudaMalloc(&d_ends, CHUNKS * CHANNELS * sizeof(float));
  cudaMalloc(&d_starts, CHUNKS * CHANNELS * sizeof(float));
  cudaMemcpy(d_x, h_x, size * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_pole, h_pole, CHANNELS * sizeof(float), cudaMemcpyHostToDevice);

  int columns = CEIL_DIV(CHANNELS, 64);
  dim3 grid(columns, CHUNKS);
  chunk_ends<<<grid, 64>>>(d_x, d_pole, d_ends);
  chunk_starts<<<columns, 64>>>(d_pole, d_ends, d_starts);
  filter_chunks<<<grid, 64>>>(d_x, d_pole, d_starts, d_y);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_y, d_y, size * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/y.bin", h_y, size * sizeof(float));

  cudaFree(d_x);
  cudaFree(d_pole);
  cudaFree(d_y);
  cudaFree(d_ends);
  cudaFree(d_starts);
  delete[] h_x;
  delete[] h_pole;
  delete[] h_y;
  return 0;
}
