#define LOANS 300
#define MONTHS 60

__global__ void amortize(const double* principal, const double* payment, const float* annual_rate,
                         double* balance, double* interest_paid, int* payoff_month, int loans,
                         int months) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= loans) return;
  double b = principal[i];
  double total = 0.0;
  int month = 0;
  for (int t = 0; t < months; t++) {
    double interest = b * annual_rate[t * loans + i] / 12.0;
    total += interest;
    double owed = b + interest;
    if (owed <= payment[i]) {
      if (b > 0.0) month = t + 1;
      b = 0.0;
    } else {
      b = owed - payment[i];
    }
    balance[t * loans + i] = b;
  }
  interest_paid[i] = total;
  payoff_month[i] = month;
}

int main() {
  const int length = MONTHS * LOANS;
  std::vector<double> h_principal(LOANS);
  read_binary("data/principal.bin", reinterpret_cast<float*>(h_principal.data()), 2 * LOANS);
  double* d_principal;
  cudaMalloc(&d_principal, LOANS * sizeof(double));
  cudaMemcpy(d_principal, h_principal.data(), LOANS * sizeof(double), cudaMemcpyHostToDevice);

  std::vector<double> h_payment(LOANS);
  read_binary("data/payment.bin", reinterpret_cast<float*>(h_payment.data()), 2 * LOANS);
  double* d_payment;
  cudaMalloc(&d_payment, LOANS * sizeof(double));
  cudaMemcpy(d_payment, h_payment.data(), LOANS * sizeof(double), cudaMemcpyHostToDevice);

  std::vector<float> h_annual_rate(length);
  read_binary("data/annual_rate.bin", h_annual_rate.data(), length);
  float* d_annual_rate;
  cudaMalloc(&d_annual_rate, length * sizeof(float));
  cudaMemcpy(d_annual_rate, h_annual_rate.data(), length * sizeof(float), cudaMemcpyHostToDevice);

  std::vector<double> h_balance(length);
  double* d_balance;
  cudaMalloc(&d_balance, length * sizeof(double));
  std::vector<double> h_interest_paid(LOANS);
  double* d_interest_paid;
  cudaMalloc(&d_interest_paid, LOANS * sizeof(double));
  std::vector<int> h_payoff_month(LOANS);
  int* d_payoff_month;
  cudaMalloc(&d_payoff_month, LOANS * sizeof(int));

  int threads = 128;
  int blocks = (LOANS + threads - 1) / threads;
  amortize<<<blocks, threads>>>(d_principal, d_payment, d_annual_rate, d_balance, d_interest_paid, d_payoff_month,
                                LOANS, MONTHS);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_balance.data(), d_balance, length * sizeof(double), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_interest_paid.data(), d_interest_paid, LOANS * sizeof(double), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_payoff_month.data(), d_payoff_month, LOANS * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/balance.bin", reinterpret_cast<const float*>(h_balance.data()), 2 * length);
  write_binary("data/interest_paid.bin", reinterpret_cast<const float*>(h_interest_paid.data()), 2 * LOANS);
  write_binary("data/payoff_month.bin", reinterpret_cast<const float*>(h_payoff_month.data()), LOANS);

  cudaFree(d_principal);
  cudaFree(d_payment);
  cudaFree(d_annual_rate);
  cudaFree(d_balance);
  cudaFree(d_interest_paid);
  cudaFree(d_payoff_month);
  return 0;
}
