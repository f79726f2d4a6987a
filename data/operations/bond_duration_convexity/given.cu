const int N = 4000;

__global__ void evaluate_bonds(const float* coupon, const float* yield_rate, const int* periods,
               float* price, float* duration, float* convexity, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float growth = 1.0f + yield_rate[i];
  int last = periods[i];
  float factor = 1.0f;
  float total = 0.0f, first = 0.0f, second = 0.0f;
  for (int k = 1; k <= last; ++k) {
    factor /= growth;
    float payment = coupon[i] + (k == last ? 100.0f : 0.0f);
    float value = payment * factor;
    total += value;
    first += k * value;
    second += (float)(k * (k + 1)) * value;
  }
  price[i] = total;
  duration[i] = first / (total * growth);
  convexity[i] = second / (total * growth * growth);
}

int main() {
  float* d_coupon;
  cudaMalloc(&d_coupon, N * sizeof(float));
  float* d_yield_rate;
  cudaMalloc(&d_yield_rate, N * sizeof(float));
  int* d_periods;
  cudaMalloc(&d_periods, N * sizeof(int));
  float* d_price;
  cudaMalloc(&d_price, N * sizeof(float));
  float* d_duration;
  cudaMalloc(&d_duration, N * sizeof(float));
  float* d_convexity;
  cudaMalloc(&d_convexity, N * sizeof(float));

  float* h_coupon = new float[N];
  read_binary("data/coupon.bin", h_coupon, N);
  cudaMemcpy(d_coupon, h_coupon, N * sizeof(float), cudaMemcpyHostToDevice);
  float* h_yield_rate = new float[N];
  read_binary("data/yield_rate.bin", h_yield_rate, N);
  cudaMemcpy(d_yield_rate, h_yield_rate, N * sizeof(float), cudaMemcpyHostToDevice);
  int* h_periods = new int[N];
  read_binary("data/periods.bin", reinterpret_cast<float*>(h_periods), N);
  cudaMemcpy(d_periods, h_periods, N * sizeof(int), cudaMemcpyHostToDevice);

  evaluate_bonds<<<(N + 127) / 128, 128>>>(d_coupon, d_yield_rate, d_periods, d_price, d_duration,
    d_convexity, N);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "CUDA failure: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  float* h_price = new float[N];
  float* h_duration = new float[N];
  float* h_convexity = new float[N];
  cudaMemcpy(h_price, d_price, N * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_duration, d_duration, N * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_convexity, d_convexity, N * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/price.bin", h_price, N);
  write_binary("data/duration.bin", h_duration, N);
  write_binary("data/convexity.bin", h_convexity, N);

  cudaFree(d_coupon);
  cudaFree(d_yield_rate);
  cudaFree(d_periods);
  cudaFree(d_price);
  cudaFree(d_duration);
  cudaFree(d_convexity);
  delete[] h_coupon;
  delete[] h_yield_rate;
  delete[] h_periods;
  delete[] h_price;
  delete[] h_duration;
  delete[] h_convexity;
  return 0;
}
