constexpr int kRows = 60;
constexpr int kWidth = 384;

__global__ void integer_rms(const int* x, const int* weight, int* y, int* root, int width) {
    __shared__ long long part[128];
    __shared__ int row_root;
    int t = threadIdx.x;
    const int* row = x + (size_t)blockIdx.x * width;
    long long sum = 0;
    for (int j = t; j < width; j += 128) sum += (long long)row[j] * row[j];
    part[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) {
        int m = (int)(part[0] / width);
        int lo = 0, hi = 2001;
        while (hi - lo > 1) {
            int mid = (lo + hi) / 2;
            if (mid * mid <= m) lo = mid;
            else hi = mid;
        }
        row_root = lo > 0 ? lo : 1;
        root[blockIdx.x] = row_root;
    }
    __syncthreads();
    for (int j = t; j < width; j += 128)
        y[(size_t)blockIdx.x * width + j] = (row[j] * 256 / row_root) * weight[j] / 256;
}

int main() {
    const int N = kRows * kWidth;
    int* h_x = new int[N];
    int* h_weight = new int[kWidth];
    int* h_y = new int[N];
    int* h_root = new int[kRows];
    read_binary("data/x.bin", reinterpret_cast<float*>(h_x), N);
    read_binary("data/weight.bin", reinterpret_cast<float*>(h_weight), kWidth);

    int* d_x;
    int* d_weight;
    int* d_y;
    int* d_root;
    cudaMalloc(&d_x, N * sizeof(int));
    cudaMemcpy(d_x, h_x, N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_weight, kWidth * sizeof(int));
    cudaMemcpy(d_weight, h_weight, kWidth * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_y, N * sizeof(int));
    cudaMalloc(&d_root, kRows * sizeof(int));

    const int blocks = kRows;
    integer_rms<<<blocks, 128>>>(d_x, d_weight, d_y, d_root, kWidth);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "Kernel failed" << std::endl;
        return 1;
    }

    cudaMemcpy(h_y, d_y, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_root, d_root, kRows * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", reinterpret_cast<const float*>(h_y), N);
    write_binary("data/root.bin", reinterpret_cast<const float*>(h_root), kRows);

    cudaFree(d_x);
    cudaFree(d_weight);
    cudaFree(d_y);
    cudaFree(d_root);
    delete[] h_x;
    delete[] h_weight;
    delete[] h_y;
    delete[] h_root;
    return 0;
}
