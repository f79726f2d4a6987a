static const int ROWS = 100;
static const int LEN_A = 50;
static const int LEN_B = 80;

__global__ void intersect_rows(const int* first, const int* second, int* common, float* jaccard, int rows,
                               int len_a, int len_b) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* a = first + (size_t)r * len_a;
    const int* b = second + (size_t)r * len_b;
    int i = 0, j = 0, same = 0;
    while (i < len_a && j < len_b) {
        if (a[i] == b[j]) {
            ++same;
            ++i;
            ++j;
        } else if (a[i] < b[j]) {
            ++i;
        } else {
            ++j;
        }
    }
    common[r] = same;
    jaccard[r] = (float)same / (float)(len_a + len_b - same);
}

int main() {
    int* h_first = new int[ROWS * LEN_A];
    read_binary("data/first.bin", reinterpret_cast<float*>(h_first), ROWS * LEN_A);
    int* h_second = new int[ROWS * LEN_B];
    read_binary("data/second.bin", reinterpret_cast<float*>(h_second), ROWS * LEN_B);

    int* d_first;
    int* d_second;
    int* d_common;
    float* d_jaccard;
    cudaMalloc(&d_first, ROWS * LEN_A * sizeof(int));
    cudaMemcpy(d_first, h_first, ROWS * LEN_A * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_second, ROWS * LEN_B * sizeof(int));
    cudaMemcpy(d_second, h_second, ROWS * LEN_B * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_common, ROWS * sizeof(int));
    cudaMalloc(&d_jaccard, ROWS * sizeof(float));

    int block = 128;
    int grid = (ROWS + block - 1) / block;
    intersect_rows<<<grid, block>>>(d_first, d_second, d_common, d_jaccard, ROWS, LEN_A, LEN_B);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "intersection kernel" << std::endl;
        return 1;
    }
    cudaDeviceSynchronize();

    int* h_common = new int[ROWS];
    cudaMemcpy(h_common, d_common, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/common.bin", reinterpret_cast<const float*>(h_common), ROWS);
    float* h_jaccard = new float[ROWS];
    cudaMemcpy(h_jaccard, d_jaccard, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/jaccard.bin", h_jaccard, ROWS);

    cudaFree(d_first);
    delete[] h_first;
    cudaFree(d_second);
    delete[] h_second;
    cudaFree(d_common);
    delete[] h_common;
    cudaFree(d_jaccard);
    delete[] h_jaccard;
    return 0;
}
