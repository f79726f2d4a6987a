const int N = 60;
const int SHIFTS = 400;

__global__ void count_below(const double* diag, const double* off, const double* shift, int* below, int n,
                            int shifts) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= shifts) return;
    double s = shift[k];
    double q = diag[0] - s;
    int negative = q < 0.0 ? 1 : 0;
    for (int i = 1; i < n; i++) {
        if (q == 0.0) q = 1e-300;
        q = diag[i] - s - off[i - 1] * off[i - 1] / q;
        if (q < 0.0) negative++;
    }
    below[k] = negative;
}

int main() {
    const int off_count = N - 1;
    double* h_diag = new double[N];
    double* h_off = new double[off_count];
    double* h_shift = new double[SHIFTS];
    read_binary("data/diag.bin", reinterpret_cast<float*>(h_diag), 2 * N);
    read_binary("data/off.bin", reinterpret_cast<float*>(h_off), 2 * off_count);
    read_binary("data/shift.bin", reinterpret_cast<float*>(h_shift), 2 * SHIFTS);

    double* d_diag = nullptr;
    double* d_off = nullptr;
    double* d_shift = nullptr;
    int* d_below = nullptr;
    cudaMalloc(&d_diag, sizeof(double) * N);
    cudaMalloc(&d_off, off_count * sizeof(double));
    cudaMalloc(&d_shift, sizeof(double) * SHIFTS);
    cudaMalloc(&d_below, sizeof(int) * SHIFTS);
    cudaMemcpy(d_diag, h_diag, sizeof(double) * N, cudaMemcpyHostToDevice);
    cudaMemcpy(d_off, h_off, off_count * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(d_shift, h_shift, sizeof(double) * SHIFTS, cudaMemcpyHostToDevice);

    int block = 128;
    count_below<<<(SHIFTS + block - 1) / block, block>>>(d_diag, d_off, d_shift, d_below, N, SHIFTS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    int* h_below = new int[SHIFTS];
    cudaMemcpy(h_below, d_below, sizeof(int) * SHIFTS, cudaMemcpyDeviceToHost);
    write_binary("data/below.bin", reinterpret_cast<const float*>(h_below), SHIFTS);

    cudaFree(d_diag);
    delete[] h_diag;
    cudaFree(d_off);
    delete[] h_off;
    cudaFree(d_shift);
    delete[] h_shift;
    cudaFree(d_below);
    delete[] h_below;
    return 0;
}
