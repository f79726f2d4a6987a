#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define LOANS 300
#define MONTHS 60

#define gpuErrchk(call)                                                                      \
  do {                                                                                     \
    cudaError_t status_ = (call);                                                        \
    if (status_ != cudaSuccess) {                                                        \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      exit(EXIT_FAILURE);                                                              \
    }                                                                                    \
  } while (0)

// Once a loan is paid off nothing is left to compute: the rest of its column is filled with zeros.
__global__ void amortize_early_exit(const double* __restrict__ principal, const double* __restrict__ payment,
                                    const float* __restrict__ annual_rate, double* __restrict__ balance,
                                    double* __restrict__ interest_paid, int* __restrict__ payoff_month) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= LOANS) return;
  const double pay = payment[i];
  const float* rate = annual_rate + i;
  double* out = balance + i;
  double b = principal[i], total = 0.0;
  int t = 0, month = 0;
  float next = rate[0];
  while (t < MONTHS) {
    const double factor = next / 12.0;
    if (t + 1 < MONTHS) next = rate[(size_t)(t + 1) * LOANS];
    const double interest = b * factor;
    total += interest;
    b += interest - pay;
    ++t;
    if (b <= 0.0) { month = t; break; }
    out[(size_t)(t - 1) * LOANS] = b;
  }
  for (int k = month == 0 ? MONTHS : month - 1; k < MONTHS; ++k) out[(size_t)k * LOANS] = 0.0;
  interest_paid[i] = total;
  payoff_month[i] = month;
}

int main() {
  const size_t len = (size_t)MONTHS * LOANS;
  double* h_principal = (double*)malloc(LOANS * sizeof(double));
  double* h_payment = (double*)malloc(LOANS * sizeof(double));
  float* h_annual_rate = (float*)malloc(len * sizeof(float));
  double* h_balance = (double*)malloc(len * sizeof(double));
  double* h_interest_paid = (double*)malloc(LOANS * sizeof(double));
  int* h_payoff_month = (int*)malloc(LOANS * sizeof(int));

  FILE* in = fopen("data/principal.bin", "rb");
  if (!in || fread(h_principal, sizeof(double), LOANS, in) != (size_t)LOANS) {
    fprintf(stderr, "cannot read data/principal.bin\n");
    return 1;
  }
  fclose(in);
  in = fopen("data/payment.bin", "rb");
  if (!in || fread(h_payment, sizeof(double), LOANS, in) != (size_t)LOANS) {
    fprintf(stderr, "cannot read data/payment.bin\n");
    return 1;
  }
  fclose(in);
  in = fopen("data/annual_rate.bin", "rb");
  if (!in || fread(h_annual_rate, sizeof(float), len, in) != len) {
    fprintf(stderr, "cannot read data/annual_rate.bin\n");
    return 1;
  }
  fclose(in);

  double* d_principal;
  gpuErrchk(cudaMalloc(&d_principal, LOANS * sizeof(double)));
  gpuErrchk(cudaMemcpy(d_principal, h_principal, LOANS * sizeof(double), cudaMemcpyHostToDevice));
  double* d_payment;
  gpuErrchk(cudaMalloc(&d_payment, LOANS * sizeof(double)));
  gpuErrchk(cudaMemcpy(d_payment, h_payment, LOANS * sizeof(double), cudaMemcpyHostToDevice));
  float* d_annual_rate;
  gpuErrchk(cudaMalloc(&d_annual_rate, len * sizeof(float)));
  gpuErrchk(cudaMemcpy(d_annual_rate, h_annual_rate, len * sizeof(float), cudaMemcpyHostToDevice));
  double* d_balance;
  gpuErrchk(cudaMalloc(&d_balance, len * sizeof(double)));
  double* d_interest_paid;
  gpuErrchk(cudaMalloc(&d_interest_paid, LOANS * sizeof(double)));
  int* d_payoff_month;
  gpuErrchk(cudaMalloc(&d_payoff_month, LOANS * sizeof(int)));

  const int block = 64;
  amortize_early_exit<<<(LOANS + block - 1) / block, block>>>(d_principal, d_payment, d_annual_rate,
      d_balance, d_interest_paid,
                          d_payoff_month);
  gpuErrchk(cudaGetLastError());
  gpuErrchk(cudaMemcpy(h_balance, d_balance, len * sizeof(double), cudaMemcpyDeviceToHost));
  gpuErrchk(cudaMemcpy(h_interest_paid, d_interest_paid, LOANS * sizeof(double), cudaMemcpyDeviceToHost));
  gpuErrchk(cudaMemcpy(h_payoff_month, d_payoff_month, LOANS * sizeof(int), cudaMemcpyDeviceToHost));

  FILE* out = fopen("data/balance.bin", "wb");
  if (!out || fwrite(h_balance, sizeof(double), len, out) != len) {
    fprintf(stderr, "cannot write data/balance.bin\n");
    return 1;
  }
  fclose(out);
  out = fopen("data/interest_paid.bin", "wb");
  if (!out || fwrite(h_interest_paid, sizeof(double), LOANS, out) != (size_t)LOANS) {
    fprintf(stderr, "cannot write data/interest_paid.bin\n");
    return 1;
  }
  fclose(out);
  out = fopen("data/payoff_month.bin", "wb");
  if (!out || fwrite(h_payoff_month, sizeof(int), LOANS, out) != (size_t)LOANS) {
    fprintf(stderr, "cannot write data/payoff_month.bin\n");
    return 1;
  }
  fclose(out);

  cudaFree(d_principal);
  cudaFree(d_payment);
  cudaFree(d_annual_rate);
  cudaFree(d_balance);
  cudaFree(d_interest_paid);
  cudaFree(d_payoff_month);
  free(h_principal);
  free(h_payment);
  free(h_annual_rate);
  free(h_balance);
  free(h_interest_paid);
  free(h_payoff_month);
  return 0;
}
