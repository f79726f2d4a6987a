const int ENTRIES = 1000;
const int N = 6000;

__device__ int lower_bound(const int* table, int entries, int key) {
  int low = 0;
  int high = entries;
  while (low < high) {
    int mid = (low + high) / 2;
    if (table[mid] < key) low = mid + 1;
    else high = mid;
  }
  return low;
}

__device__ int upper_bound(const int* table, int entries, int key) {
  int low = 0;
  int high = entries;
  while (low < high) {
    int mid = (low + high) / 2;
    if (table[mid] <= key) low = mid + 1;
    else high = mid;
  }
  return low;
}

__global__ void find_keys(const int* table, const int* keys, int* position, int* copies, int entries, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int first = lower_bound(table, entries, keys[i]);
  position[i] = first;
  copies[i] = upper_bound(table, entries, keys[i]) - first;
}

int main() {
  int* h_table = new int[ENTRIES];
  read_binary("data/table.bin", reinterpret_cast<float*>(h_table), ENTRIES);
  int* h_keys = new int[N];
  read_binary("data/keys.bin", reinterpret_cast<float*>(h_keys), N);
  int* h_position = new int[N];
  int* h_copies = new int[N];

  int* d_table = nullptr;
  int* d_keys = nullptr;
  int* d_position = nullptr;
  int* d_copies = nullptr;
  cudaMalloc(&d_table, sizeof(int) * ENTRIES);
  cudaMalloc(&d_keys, sizeof(int) * N);
  cudaMalloc(&d_position, sizeof(int) * N);
  cudaMalloc(&d_copies, sizeof(int) * N);
  cudaMemcpy(d_table, h_table, sizeof(int) * ENTRIES, cudaMemcpyHostToDevice);
  cudaMemcpy(d_keys, h_keys, sizeof(int) * N, cudaMemcpyHostToDevice);

  int threads = 256;
  int blocks = (N + threads - 1) / threads;
  find_keys<<<blocks, threads>>>(d_table, d_keys, d_position, d_copies, ENTRIES, N);
  cudaDeviceSynchronize();

  cudaMemcpy(h_position, d_position, sizeof(int) * N, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_copies, d_copies, sizeof(int) * N, cudaMemcpyDeviceToHost);
  write_binary("data/position.bin", reinterpret_cast<const float*>(h_position), N);
  write_binary("data/copies.bin", reinterpret_cast<const float*>(h_copies), N);

  cudaFree(d_table);
  cudaFree(d_keys);
  cudaFree(d_position);
  cudaFree(d_copies);
  delete[] h_table;
  delete[] h_keys;
  delete[] h_position;
  delete[] h_copies;
  return 0;
}
