#define ROWS 110
#define COLS 170

__global__ void level_set_kernel(const float* phi, const float* speed, float* phi_next, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;
  int i = row * cols + col;
  float p = phi[i];
  float f = speed[i];
  float a = col > 0 ? p - phi[i - 1] : 0.0f;
  float b = col + 1 < cols ? phi[i + 1] - p : 0.0f;
  float c = row > 0 ? p - phi[i - cols] : 0.0f;
  float d = row + 1 < rows ? phi[i + cols] - p : 0.0f;
  float ap = fmaxf(a, 0.0f), an = fminf(a, 0.0f);
  float bp = fmaxf(b, 0.0f), bn = fminf(b, 0.0f);
  float cp = fmaxf(c, 0.0f), cneg = fminf(c, 0.0f);
  float dp = fmaxf(d, 0.0f), dn = fminf(d, 0.0f);
  float g_plus = sqrtf(ap * ap + bn * bn + cp * cp + dn * dn);
  float g_minus = sqrtf(an * an + bp * bp + cneg * cneg + dp * dp);
  phi_next[i] = p - 0.3f * (fmaxf(f, 0.0f) * g_plus + fminf(f, 0.0f) * g_minus);
}

int main() {
  size_t count = (size_t)ROWS * COLS;

  float* d_phi = nullptr;
  cudaMalloc(&d_phi, count * sizeof(float));
  float* d_speed = nullptr;
  cudaMalloc(&d_speed, count * sizeof(float));
  float* d_phi_next = nullptr;
  cudaMalloc(&d_phi_next, count * sizeof(float));

  float* h_phi = new float[count];
  read_binary("data/phi.bin", h_phi, count);
  cudaMemcpy(d_phi, h_phi, count * sizeof(float), cudaMemcpyHostToDevice);
  float* h_speed = new float[count];
  read_binary("data/speed.bin", h_speed, count);
  cudaMemcpy(d_speed, h_speed, count * sizeof(float), cudaMemcpyHostToDevice);

  dim3 block(16, 16);
  dim3 grid((COLS + block.x - 1) / block.x, (ROWS + block.y - 1) / block.y);
  level_set_kernel<<<grid, block>>>(d_phi, d_speed, d_phi_next, ROWS, COLS);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "CUDA failure: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }
  cudaDeviceSynchronize();

  float* h_phi_next = new float[count];
  cudaMemcpy(h_phi_next, d_phi_next, count * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/phi_next.bin", h_phi_next, count);

  cudaFree(d_phi);
  cudaFree(d_speed);
  cudaFree(d_phi_next);
  delete[] h_phi;
  delete[] h_speed;
  delete[] h_phi_next;
  return 0;
}
