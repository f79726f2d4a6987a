#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 50;
const int COLS = 60;
const int UPDATES = 300;
const int BLOCK = 128;

// Chain the updates of a row into a list, so that every row can gather its own without further atomics.
__global__ void link_updates(const int* index, int* head, int* next) {
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u < UPDATES) next[u] = atomicExch(&head[index[u]], u);
}

__global__ void gather_max(const int* initial, const int* values, const int* head, const int* next, int* best,
                           int* hits) {
  int r = blockIdx.x;
  for (int c = threadIdx.x; c < COLS; c += BLOCK) {
    int m = initial[(size_t)r * COLS + c];
    int n = 0;
    for (int u = head[r]; u >= 0; u = next[u]) {
      m = max(m, values[(size_t)u * COLS + c]);
      n++;
    }
    best[(size_t)r * COLS + c] = m;
    if (c == 0) hits[r] = n;
  }
}

int main() {
  const size_t initialSize = (size_t)ROWS * COLS;
  const size_t valuesSize = (size_t)UPDATES * COLS;
  std::vector<int> initial(initialSize), values(valuesSize), index(UPDATES), best(initialSize), hits(ROWS);
  std::ifstream f_initial("data/initial.bin", std::ios::binary);
  if (!f_initial.read((char*)initial.data(), initialSize * sizeof(int))) return 1;
  std::ifstream f_values("data/values.bin", std::ios::binary);
  if (!f_values.read((char*)values.data(), valuesSize * sizeof(int))) return 1;
  std::ifstream f_index("data/index.bin", std::ios::binary);
  if (!f_index.read((char*)index.data(), UPDATES * sizeof(int))) return 1;
  int *d_initial, *d_values, *d_index, *d_best, *d_hits, *d_head, *d_next;
  cudaMalloc(&d_initial, initialSize * sizeof(int));
  cudaMalloc(&d_values, valuesSize * sizeof(int));
  cudaMalloc(&d_index, UPDATES * sizeof(int));
  cudaMalloc(&d_best, initialSize * sizeof(int));
  cudaMalloc(&d_hits, ROWS * sizeof(int));
  cudaMalloc(&d_head, ROWS * sizeof(int));
  cudaMalloc(&d_next, UPDATES * sizeof(int));
  cudaMemcpy(d_initial, initial.data(), initialSize * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_values, values.data(), valuesSize * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_index, index.data(), UPDATES * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(d_head, 0xff, ROWS * sizeof(int));
  link_updates<<<(UPDATES + 255) / 256, 256>>>(d_index, d_head, d_next);
  gather_max<<<ROWS, BLOCK>>>(d_initial, d_values, d_head, d_next, d_best, d_hits);
  cudaMemcpy(best.data(), d_best, initialSize * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(hits.data(), d_hits, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
  std::ofstream("data/best.bin", std::ios::binary).write((char*)best.data(), initialSize * sizeof(int));
  std::ofstream("data/hits.bin", std::ios::binary).write((char*)hits.data(), ROWS * sizeof(int));
  return 0;
}
