constexpr int kNames = 600;
constexpr int kQuarters = 20;

__global__ void fair_spreads(const float* hazard, const float* discount, const float* recovery,
                             float* spread, float* survival, int names, int quarters) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= names) return;
  float alive = 1.0f;
  float premium = 0.0f;
  float loss = 0.0f;
  for (int k = 0; k < quarters; ++k) {
    float next = alive * expf(-0.25f * hazard[n * quarters + k]);
    premium += 0.125f * discount[k] * (alive + next);
    loss += discount[k] * (alive - next);
    alive = next;
  }
  spread[n] = 10000.0f * (1.0f - recovery[n]) * loss / premium;
  survival[n] = alive;
}

int main() {
  const int numel = kNames * kQuarters;
  const size_t buffer_bytes = kNames * sizeof(float);
  std::vector<float> h_hazard(numel);
  std::vector<float> h_discount(kQuarters);
  std::vector<float> h_recovery(kNames);
  std::vector<float> h_spread(kNames);
  std::vector<float> h_survival(kNames);
  read_binary("data/hazard.bin", h_hazard.data(), numel);
  read_binary("data/discount.bin", h_discount.data(), kQuarters);
  read_binary("data/recovery.bin", h_recovery.data(), kNames);

  float* d_hazard = nullptr;
  cudaMalloc(&d_hazard, numel * sizeof(float));
  cudaMemcpy(d_hazard, h_hazard.data(), numel * sizeof(float), cudaMemcpyHostToDevice);
  float* d_discount = nullptr;
  cudaMalloc(&d_discount, kQuarters * sizeof(float));
  cudaMemcpy(d_discount, h_discount.data(), kQuarters * sizeof(float), cudaMemcpyHostToDevice);
  float* d_recovery = nullptr;
  cudaMalloc(&d_recovery, buffer_bytes);
  cudaMemcpy(d_recovery, h_recovery.data(), buffer_bytes, cudaMemcpyHostToDevice);
  float* d_spread = nullptr;
  cudaMalloc(&d_spread, buffer_bytes);
  float* d_survival = nullptr;
  cudaMalloc(&d_survival, buffer_bytes);

  int threads = 128;
  int blocks = (kNames + threads - 1) / threads;
  fair_spreads<<<blocks, threads>>>(d_hazard, d_discount, d_recovery, d_spread, d_survival, kNames, kQuarters);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "launch failed: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_spread.data(), d_spread, buffer_bytes, cudaMemcpyDeviceToHost);
  write_binary("data/spread.bin", h_spread.data(), kNames);
  cudaMemcpy(h_survival.data(), d_survival, buffer_bytes, cudaMemcpyDeviceToHost);
  write_binary("data/survival.bin", h_survival.data(), kNames);

  cudaFree(d_survival);
  cudaFree(d_spread);
  cudaFree(d_recovery);
  cudaFree(d_discount);
  cudaFree(d_hazard);
  return 0;
}
