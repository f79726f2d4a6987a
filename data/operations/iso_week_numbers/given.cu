const int N = 5000;

__device__ int is_leap(int y) {
    return (y % 4 == 0 && (y % 100 != 0 || y % 400 == 0)) ? 1 : 0;
}

__global__ void iso_weeks(const int* dates, int* iso, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int y = dates[3 * i], m = dates[3 * i + 1], d = dates[3 * i + 2];
    int day_of_year = before[m - 1] + d + (m > 2 ? is_leap(y) : 0);
    int p = y - 1;
    int weekday = (p + p / 4 - p / 100 + p / 400 + day_of_year - 1) % 7 + 1;
    int thursday = day_of_year + 4 - weekday;
    if (thursday < 1) {
        y = y - 1;
        thursday += 365 + is_leap(y);
    } else if (thursday > 365 + is_leap(y)) {
        thursday -= 365 + is_leap(y);
        y = y + 1;
    }
    iso[3 * i] = y;
    iso[3 * i + 1] = (thursday - 1) / 7 + 1;
    iso[3 * i + 2] = weekday;
}

int main() {
    const int size = N * 3;
    std::vector<int> h_dates(size);
    read_binary("data/dates.bin", reinterpret_cast<float*>(h_dates.data()), size);
    std::vector<int> h_iso(size);

    int *d_dates, *d_iso;
    cudaMalloc(&d_dates, size * sizeof(int));
    cudaMalloc(&d_iso, size * sizeof(int));
    cudaMemcpy(d_dates, h_dates.data(), size * sizeof(int), cudaMemcpyHostToDevice);

    const int block = 256;
    iso_weeks<<<(N + block - 1) / block, block>>>(d_dates, d_iso, N);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "error" << std::endl;
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_iso.data(), d_iso, size * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/iso.bin", reinterpret_cast<const float*>(h_iso.data()), size);

    cudaFree(d_dates);
    cudaFree(d_iso);
    return 0;
}
