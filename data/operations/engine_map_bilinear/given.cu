const int COLS = 20;
const int ROWS = 13;
const int QUERIES = 15000;

// Index of the interval of the axis that holds q.
__device__ int find_cell(const float* axis, int n, float q) {
  int lo = 0, hi = n - 1;
  while (hi - lo > 1) {
    int mid = (lo + hi) / 2;
    if (axis[mid] <= q) lo = mid;
    else hi = mid;
  }
  return lo;
}

__global__ void lookup(const float* speed_axis, const float* load_axis, const float* map, const float* speed,
                       const float* load, float* torque, int queries, int cols, int rows) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= queries) return;
  float s = fminf(fmaxf(speed[q], speed_axis[0]), speed_axis[cols - 1]);
  float l = fminf(fmaxf(load[q], load_axis[0]), load_axis[rows - 1]);
  int j = find_cell(speed_axis, cols, s);
  int i = find_cell(load_axis, rows, l);
  float u = (s - speed_axis[j]) / (speed_axis[j + 1] - speed_axis[j]);
  float v = (l - load_axis[i]) / (load_axis[i + 1] - load_axis[i]);
  const float* cell = map + i * cols + j;
  float low = cell[0] + u * (cell[1] - cell[0]);
  float high = cell[cols] + u * (cell[cols + 1] - cell[cols]);
  torque[q] = low + v * (high - low);
}

int main() {
  const int total = ROWS * COLS;
  float* h_speed_axis = new float[COLS];
  read_binary("data/speed_axis.bin", h_speed_axis, COLS);
  float* h_load_axis = new float[ROWS];
  read_binary("data/load_axis.bin", h_load_axis, ROWS);
  float* h_map = new float[total];
  read_binary("data/map.bin", h_map, total);
  float* h_speed = new float[QUERIES];
  read_binary("data/speed.bin", h_speed, QUERIES);
  float* h_load = new float[QUERIES];
  read_binary("data/load.bin", h_load, QUERIES);

  float* d_speed_axis;
  float* d_load_axis;
  float* d_map;
  float* d_speed;
  float* d_load;
  float* d_torque;
  cudaMalloc(&d_speed_axis, sizeof(float) * COLS);
  cudaMemcpy(d_speed_axis, h_speed_axis, sizeof(float) * COLS, cudaMemcpyHostToDevice);
  cudaMalloc(&d_load_axis, sizeof(float) * ROWS);
  cudaMemcpy(d_load_axis, h_load_axis, sizeof(float) * ROWS, cudaMemcpyHostToDevice);
  cudaMalloc(&d_map, total * sizeof(float));
  cudaMemcpy(d_map, h_map, total * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_speed, sizeof(float) * QUERIES);
  cudaMemcpy(d_speed, h_speed, sizeof(float) * QUERIES, cudaMemcpyHostToDevice);
  cudaMalloc(&d_load, sizeof(float) * QUERIES);
  cudaMemcpy(d_load, h_load, sizeof(float) * QUERIES, cudaMemcpyHostToDevice);
  cudaMalloc(&d_torque, sizeof(float) * QUERIES);

  const int threads = 256;
  const int blocks = (QUERIES + threads - 1) / threads;
  lookup<<<blocks, threads>>>(d_speed_axis, d_load_axis, d_map, d_speed, d_load, d_torque, QUERIES, COLS, ROWS);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  float* h_torque = new float[QUERIES];
  cudaMemcpy(h_torque, d_torque, sizeof(float) * QUERIES, cudaMemcpyDeviceToHost);
  write_binary("data/torque.bin", h_torque, QUERIES);

  cudaFree(d_speed_axis);
  cudaFree(d_load_axis);
  cudaFree(d_map);
  cudaFree(d_speed);
  cudaFree(d_load);
  cudaFree(d_torque);
  delete[] h_speed_axis;
  delete[] h_load_axis;
  delete[] h_map;
  delete[] h_speed;
  delete[] h_load;
  delete[] h_torque;
  return 0;
}
