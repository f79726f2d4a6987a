#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define LOANS 300
#define MONTHS 60

__global__ void amortize(const double* principal, const double* payment, const float* annual_rate,
                         double* balance, double* interest_paid, int* payoff_month) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LOANS) return;
    double b = principal[i];
    double total = 0.0;
    int month = 0;
    for (int t = 0; t < MONTHS; t++) {
        double interest = b * annual_rate[t * LOANS + i] / 12.0;
        total += interest;
        double owed = b + interest;
        if (owed <= payment[i]) {
            if (b > 0.0) month = t + 1;
            b = 0.0;
        } else {
            b = owed - payment[i];
        }
        balance[t * LOANS + i] = b;
    }
    interest_paid[i] = total;
    payoff_month[i] = month;
}

int main() {
    const size_t len = (size_t)MONTHS * LOANS;
    std::vector<double> principal(LOANS), payment(LOANS), balance(len), interest_paid(LOANS);
    std::vector<float> annual_rate(len);
    std::vector<int> payoff_month(LOANS);
    FILE* f_principal = fopen("data/principal.bin", "rb");
    if (!f_principal || fread(principal.data(), sizeof(double), LOANS, f_principal) != LOANS) return 1;
    fclose(f_principal);
    FILE* f_payment = fopen("data/payment.bin", "rb");
    if (!f_payment || fread(payment.data(), sizeof(double), LOANS, f_payment) != LOANS) return 1;
    fclose(f_payment);
    FILE* f_annual_rate = fopen("data/annual_rate.bin", "rb");
    if (!f_annual_rate || fread(annual_rate.data(), sizeof(float), len, f_annual_rate) != len) return 1;
    fclose(f_annual_rate);
    double* d_principal = nullptr;
    cudaMalloc(&d_principal, LOANS * sizeof(double));
    cudaMemcpy(d_principal, principal.data(), LOANS * sizeof(double), cudaMemcpyHostToDevice);
    double* d_payment = nullptr;
    cudaMalloc(&d_payment, LOANS * sizeof(double));
    cudaMemcpy(d_payment, payment.data(), LOANS * sizeof(double), cudaMemcpyHostToDevice);
    float* d_annual_rate = nullptr;
    cudaMalloc(&d_annual_rate, len * sizeof(float));
    cudaMemcpy(d_annual_rate, annual_rate.data(), len * sizeof(float), cudaMemcpyHostToDevice);
    double* d_balance = nullptr;
    cudaMalloc(&d_balance, len * sizeof(double));
    double* d_interest_paid = nullptr;
    cudaMalloc(&d_interest_paid, LOANS * sizeof(double));
    int* d_payoff_month = nullptr;
    cudaMalloc(&d_payoff_month, LOANS * sizeof(int));
    amortize<<<(LOANS + 127) / 128, 128>>>(d_principal, d_payment, d_annual_rate, d_balance, d_interest_paid,
            d_payoff_month);
    cudaMemcpy(balance.data(), d_balance, len * sizeof(double), cudaMemcpyDeviceToHost);
    cudaMemcpy(interest_paid.data(), d_interest_paid, LOANS * sizeof(double), cudaMemcpyDeviceToHost);
    cudaMemcpy(payoff_month.data(), d_payoff_month, LOANS * sizeof(int), cudaMemcpyDeviceToHost);
    FILE* o_balance = fopen("data/balance.bin", "wb");
    fwrite(balance.data(), sizeof(double), len, o_balance);
    fclose(o_balance);
    FILE* o_interest_paid = fopen("data/interest_paid.bin", "wb");
    fwrite(interest_paid.data(), sizeof(double), LOANS, o_interest_paid);
    fclose(o_interest_paid);
    FILE* o_payoff_month = fopen("data/payoff_month.bin", "wb");
    fwrite(payoff_month.data(), sizeof(int), LOANS, o_payoff_month);
    fclose(o_payoff_month);
    return 0;
}
