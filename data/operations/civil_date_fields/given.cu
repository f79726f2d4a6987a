constexpr int kN = 4000;

__device__ bool is_leap(int y) {
    return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

__device__ int days_before_year(int y) {
    int p = y - 1;
    return 365 * p + p / 4 - p / 100 + p / 400;
}

__global__ void civil_dates(const int* days, int* dates, int* weekday, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int d = days[i] + 719162;
    int year = d / 366 + 1;
    while (days_before_year(year + 1) <= d) ++year;
    int rest = d - days_before_year(year);
    const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int month = 0;
    while (true) {
        int length = lengths[month] + (month == 1 && is_leap(year) ? 1 : 0);
        if (rest < length) break;
        rest -= length;
        ++month;
    }
    dates[3 * i] = year;
    dates[3 * i + 1] = month + 1;
    dates[3 * i + 2] = rest + 1;
    weekday[i] = d % 7;
}

int main() {
    const int numel = kN * 3;

    std::vector<int> h_days(kN);
    read_binary("data/days.bin", reinterpret_cast<float*>(h_days.data()), kN);

    int* d_days;
    int* d_dates;
    int* d_weekday;
    cudaMalloc(&d_days, sizeof(int) * kN);
    cudaMemcpy(d_days, h_days.data(), sizeof(int) * kN, cudaMemcpyHostToDevice);
    cudaMalloc(&d_dates, numel * sizeof(int));
    cudaMalloc(&d_weekday, sizeof(int) * kN);

    const int threads = 256;
    const int blocks = (kN + threads - 1) / threads;
    civil_dates<<<blocks, threads>>>(d_days, d_dates, d_weekday, kN);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "GPU error\n";
        return 1;
    }

    std::vector<int> h_dates(numel);
    std::vector<int> h_weekday(kN);
    cudaMemcpy(h_dates.data(), d_dates, numel * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_weekday.data(), d_weekday, sizeof(int) * kN, cudaMemcpyDeviceToHost);
    write_binary("data/dates.bin", reinterpret_cast<const float*>(h_dates.data()), numel);
    write_binary("data/weekday.bin", reinterpret_cast<const float*>(h_weekday.data()), kN);

    cudaFree(d_days);
    cudaFree(d_dates);
    cudaFree(d_weekday);
    return 0;
}
