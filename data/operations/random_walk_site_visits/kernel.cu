#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int WALKERS = 500;
const int MOVES = 100;
const int SIDE = 64;
const int BLOCK = 64;
const int CHUNK = 32;

// Draws come in through shared memory, a stretch of 32 moves of all walkers of the block at a time.
__global__ void walk_chunks(const int* __restrict__ start, const unsigned char* __restrict__ draws,
                            int* visits, int* __restrict__ final_site) {
  __shared__ unsigned char moves[BLOCK][CHUNK + 4];
  int first = blockIdx.x * BLOCK;
  int mine = min(BLOCK, WALKERS - first);
  int t = threadIdx.x;
  int row = 0, col = 0;
  if (t < mine) {
    row = start[first + t] / SIDE;
    col = start[first + t] - row * SIDE;
    atomicAdd(visits + row * SIDE + col, 1);
  }
  for (int m0 = 0; m0 < MOVES; m0 += CHUNK) {
    int length = min(CHUNK, MOVES - m0);
    for (int e = t; e < mine * CHUNK; e += BLOCK) {
      int w = e / CHUNK, m = e % CHUNK;
      if (m < length) moves[w][m] = draws[(size_t)(first + w) * MOVES + m0 + m];
    }
    __syncthreads();
    for (int m = 0; t < mine && m < length; ++m) {
      int d = moves[t][m] & 3;
      int step = d & 1 ? -1 : 1;
      if (d < 2) col += step;
      else row += step;
      col = col < 0 ? SIDE - 1 : col == SIDE ? 0 : col;
      row = row < 0 ? SIDE - 1 : row == SIDE ? 0 : row;
      atomicAdd(visits + row * SIDE + col, 1);
    }
    __syncthreads();
  }
  if (t < mine) final_site[first + t] = row * SIDE + col;
}

int main() {
  int* start = nullptr;
  unsigned char* draws = nullptr;
  int* visits = nullptr;
  int* final_site = nullptr;
  cudaMallocManaged(&start, sizeof(int) * WALKERS);
  cudaMallocManaged(&draws, sizeof(unsigned char) * WALKERS * MOVES);
  cudaMallocManaged(&visits, sizeof(int) * SIDE * SIDE);
  cudaMallocManaged(&final_site, sizeof(int) * WALKERS);

  std::ifstream in_start("data/start.bin", std::ios::binary);
  if (!in_start.read((char*)start, sizeof(int) * WALKERS)) {
    std::cerr << "cannot read data/start.bin\n";
    return 1;
  }
  std::ifstream in_draws("data/draws.bin", std::ios::binary);
  if (!in_draws.read((char*)draws, sizeof(unsigned char) * WALKERS * MOVES)) {
    std::cerr << "cannot read data/draws.bin\n";
    return 1;
  }

  cudaMemset(visits, 0, sizeof(int) * SIDE * SIDE);
  walk_chunks<<<(WALKERS + BLOCK - 1) / BLOCK, BLOCK>>>(start, draws, visits, final_site);

  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << cudaGetErrorString(err) << "\n";
    return 1;
  }

  std::ofstream out_visits("data/visits.bin", std::ios::binary);
  out_visits.write((const char*)visits, sizeof(int) * SIDE * SIDE);
  std::ofstream out_final_site("data/final_site.bin", std::ios::binary);
  out_final_site.write((const char*)final_site, sizeof(int) * WALKERS);

  cudaFree(start);
  cudaFree(draws);
  cudaFree(visits);
  cudaFree(final_site);
  return 0;
}
