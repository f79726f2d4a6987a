constexpr int kRows = 90;
constexpr int kCols = 130;

__device__ float line_derivative(const float* f, int i, int n, int stride, float spacing) {
  float result;
  if (i == 0) {
    result = -3.0f * f[0] + 4.0f * f[stride] - f[2 * stride];
  } else if (i == n - 1) {
    result = 3.0f * f[0] - 4.0f * f[-stride] + f[-2 * stride];
  } else {
    result = f[stride] - f[-stride];
  }
  return result / (2.0f * spacing);
}

__global__ void field_gradient(const float* field, float* grad_x, float* grad_y) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= kRows || col >= kCols) return;
  int i = row * kCols + col;
  grad_x[i] = line_derivative(field + i, col, kCols, 1, 0.5f);
  grad_y[i] = line_derivative(field + i, row, kRows, kCols, 0.25f);
}

int main() {
  const size_t total = (size_t)kRows * kCols;

  float* h_field = new float[total];
  read_binary("data/field.bin", h_field, total);

  float* d_field;
  cudaMalloc(&d_field, total * sizeof(float));
  cudaMemcpy(d_field, h_field, total * sizeof(float), cudaMemcpyHostToDevice);

  float* d_grad_x;
  float* d_grad_y;
  cudaMalloc(&d_grad_x, total * sizeof(float));
  cudaMalloc(&d_grad_y, total * sizeof(float));

  dim3 block(16, 8);
  dim3 grid((kCols + 15) / 16, (kRows + 7) / 8);
  field_gradient<<<grid, block>>>(d_field, d_grad_x, d_grad_y);
  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(error) << std::endl;
    return 1;
  }

  float* h_grad_x = new float[total];
  cudaMemcpy(h_grad_x, d_grad_x, total * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/grad_x.bin", h_grad_x, total);
  float* h_grad_y = new float[total];
  cudaMemcpy(h_grad_y, d_grad_y, total * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/grad_y.bin", h_grad_y, total);

  cudaFree(d_field);
  cudaFree(d_grad_x);
  cudaFree(d_grad_y);
  delete[] h_field;
  delete[] h_grad_x;
  delete[] h_grad_y;
  return 0;
}
