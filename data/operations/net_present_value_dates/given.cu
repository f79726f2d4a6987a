#define PROJECTS 300
#define FLOWS 40

__global__ void present_values(const float* amounts, const int* days, const float* rate,
                               float* value, float* positive_share, int projects, int flows) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= projects) return;
  float growth = 1.0f + rate[p];
  float gains = 0.0f;
  float losses = 0.0f;
  for (int k = 0; k < flows; ++k) {
    int i = p * flows + k;
    float worth = amounts[i] / powf(growth, days[i] / 365.0f);
    if (worth > 0.0f) gains += worth;
    else losses -= worth;
  }
  value[p] = gains - losses;
  positive_share[p] = gains / (gains + losses);
}

int main() {
  const size_t total = PROJECTS * FLOWS;
  const size_t size_bytes = PROJECTS * sizeof(float);

  float* h_amounts = new float[total];
  read_binary("data/amounts.bin", h_amounts, total);
  int* h_days = new int[total];
  read_binary("data/days.bin", reinterpret_cast<float*>(h_days), total);
  float* h_rate = new float[PROJECTS];
  read_binary("data/rate.bin", h_rate, PROJECTS);

  float *d_amounts, *d_rate, *d_value, *d_positive_share;
  int *d_days;
  cudaMalloc(&d_amounts, total * sizeof(float));
  cudaMemcpy(d_amounts, h_amounts, total * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_days, total * sizeof(int));
  cudaMemcpy(d_days, h_days, total * sizeof(int), cudaMemcpyHostToDevice);
  cudaMalloc(&d_rate, size_bytes);
  cudaMemcpy(d_rate, h_rate, size_bytes, cudaMemcpyHostToDevice);
  cudaMalloc(&d_value, size_bytes);
  cudaMalloc(&d_positive_share, size_bytes);

  const int threads = 128;
  const int blocks = (PROJECTS + threads - 1) / threads;
  present_values<<<blocks, threads>>>(d_amounts, d_days, d_rate, d_value, d_positive_share, PROJECTS, FLOWS);
  if (cudaGetLastError() != cudaSuccess) {
    std::cerr << "error\n";
    return 1;
  }
  cudaDeviceSynchronize();

  float* h_value = new float[PROJECTS];
  cudaMemcpy(h_value, d_value, size_bytes, cudaMemcpyDeviceToHost);
  write_binary("data/value.bin", h_value, PROJECTS);
  float* h_positive_share = new float[PROJECTS];
  cudaMemcpy(h_positive_share, d_positive_share, size_bytes, cudaMemcpyDeviceToHost);
  write_binary("data/positive_share.bin", h_positive_share, PROJECTS);

  delete[] h_amounts;
  delete[] h_days;
  delete[] h_rate;
  delete[] h_value;
  delete[] h_positive_share;
  cudaFree(d_amounts);
  cudaFree(d_days);
  cudaFree(d_rate);
  cudaFree(d_value);
  cudaFree(d_positive_share);
  return 0;
}
