constexpr int N = 1000;
constexpr int M = 100;

__device__ int side(int ax, int ay, int bx, int by, int px, int py) {
    int v = (bx - ax) * (py - ay) - (by - ay) * (px - ax);
    if (v > 0) return 1;
    if (v < 0) return -1;
    return 0;
}

__global__ void count_crossings(const int* first, const int* second, int* crossings, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int* a = first + 4 * i;
    int count = 0;
    for (int j = 0; j < m; ++j) {
        const int* c = second + 4 * j;
        int c0 = side(a[0], a[1], a[2], a[3], c[0], c[1]);
        int c1 = side(a[0], a[1], a[2], a[3], c[2], c[3]);
        int a0 = side(c[0], c[1], c[2], c[3], a[0], a[1]);
        int a1 = side(c[0], c[1], c[2], c[3], a[2], a[3]);
        if (c0 * c1 < 0 && a0 * a1 < 0) ++count;
    }
    crossings[i] = count;
}

int main() {
    const int first_total = N * 4;
    const size_t second_count = M * 4;
    std::vector<int> h_first(first_total);
    read_binary("data/first.bin", reinterpret_cast<float*>(h_first.data()), first_total);
    std::vector<int> h_second(second_count);
    read_binary("data/second.bin", reinterpret_cast<float*>(h_second.data()), second_count);

    int *d_first, *d_second, *d_crossings;
    cudaMalloc(&d_first, first_total * sizeof(int));
    cudaMemcpy(d_first, h_first.data(), first_total * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_second, second_count * sizeof(int));
    cudaMemcpy(d_second, h_second.data(), second_count * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_crossings, sizeof(int) * N);

    dim3 block(128);
    dim3 grid((N + block.x - 1) / block.x);
    count_crossings<<<grid, block>>>(d_first, d_second, d_crossings, N, M);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "segment kernel\n";
        return 1;
    }
    cudaDeviceSynchronize();

    std::vector<int> h_crossings(N);
    cudaMemcpy(h_crossings.data(), d_crossings, sizeof(int) * N, cudaMemcpyDeviceToHost);
    write_binary("data/crossings.bin", reinterpret_cast<const float*>(h_crossings.data()), N);

    cudaFree(d_first);
    cudaFree(d_second);
    cudaFree(d_crossings);
    return 0;
}
