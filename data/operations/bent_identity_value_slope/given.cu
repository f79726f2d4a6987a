#define COUNT 9999

__global__ void bent_identity(const float* x, float* value, float* slope, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float root = sqrtf(x[i] * x[i] + 1.0f);
  value[i] = (root - 1.0f) / 2.0f + x[i];
  slope[i] = x[i] / (2.0f * root) + 1.0f;
}

int main() {
  float* h_x = new float[COUNT];
  float* h_value = new float[COUNT];
  float* h_slope = new float[COUNT];
  read_binary("data/x.bin", h_x, COUNT);

  float* d_x;
  float* d_value;
  float* d_slope;
  cudaMalloc(&d_x, COUNT * sizeof(float));
  cudaMalloc(&d_value, COUNT * sizeof(float));
  cudaMalloc(&d_slope, COUNT * sizeof(float));
  cudaMemcpy(d_x, h_x, COUNT * sizeof(float), cudaMemcpyHostToDevice);

  dim3 block(512);
  dim3 grid((COUNT + block.x - 1) / block.x);
  bent_identity<<<grid, block>>>(d_x, d_value, d_slope, COUNT);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_value, d_value, COUNT * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/value.bin", h_value, COUNT);
  cudaMemcpy(h_slope, d_slope, COUNT * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/slope.bin", h_slope, COUNT);

  cudaFree(d_x);
  cudaFree(d_value);
  cudaFree(d_slope);
  delete[] h_x;
  delete[] h_value;
  delete[] h_slope;
  return 0;
}
