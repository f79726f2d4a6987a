const int TRADES = 400;
const int DAYS = 100;

__global__ void exit_trades(const int* price, int* exit_day, int* reason, int* profit, int trades, int days) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= trades) return;
    const int* p = price + i * days;
    int peak = p[0];
    int day = days - 1;
    int why = 0;
    for (int t = 1; t < days && why == 0; ++t) {
        peak = max(peak, p[t]);
        if (100 * p[t] <= 92 * peak) why = 1;
        else if (100 * p[t] >= 115 * p[0]) why = 2;
        if (why != 0) day = t;
    }
    exit_day[i] = day;
    reason[i] = why;
    profit[i] = p[day] - p[0];
}

int main() {
    const size_t numel = TRADES * DAYS;
    int* h_price = new int[numel];
    int* h_exit_day = new int[TRADES];
    int* h_reason = new int[TRADES];
    int* h_profit = new int[TRADES];
    read_binary("data/price.bin", reinterpret_cast<float*>(h_price), numel);

    int* d_price;
    cudaMalloc(&d_price, numel * sizeof(int));
    cudaMemcpy(d_price, h_price, numel * sizeof(int), cudaMemcpyHostToDevice);
    int* d_exit_day;
    cudaMalloc(&d_exit_day, sizeof(int) * TRADES);
    int* d_reason;
    cudaMalloc(&d_reason, sizeof(int) * TRADES);
    int* d_profit;
    cudaMalloc(&d_profit, sizeof(int) * TRADES);

    int block = 256;
    int grid = (TRADES + block - 1) / block;
    exit_trades<<<grid, block>>>(d_price, d_exit_day, d_reason, d_profit, TRADES, DAYS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_exit_day, d_exit_day, sizeof(int) * TRADES, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_reason, d_reason, sizeof(int) * TRADES, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_profit, d_profit, sizeof(int) * TRADES, cudaMemcpyDeviceToHost);
    write_binary("data/exit_day.bin", reinterpret_cast<const float*>(h_exit_day), TRADES);
    write_binary("data/reason.bin", reinterpret_cast<const float*>(h_reason), TRADES);
    write_binary("data/profit.bin", reinterpret_cast<const float*>(h_profit), TRADES);

    delete[] h_price;
    delete[] h_exit_day;
    delete[] h_reason;
    delete[] h_profit;
    cudaFree(d_price);
    cudaFree(d_exit_day);
    cudaFree(d_reason);
    cudaFree(d_profit);
    return 0;
}
