#define ROWS 120
#define WIDTH 40

// One thread a row; a strict comparison keeps the first of equal pairs.
__global__ void closest_pair(const float* x, float* gap, int* first, int* second, int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + (size_t)r * width;
    float best = FLT_MAX;
    int best_i = 0;
    int best_j = 1;
    for (int i = 0; i < width - 1; ++i) {
        float a = row[i];
        for (int j = i + 1; j < width; ++j) {
            float distance = fabsf(a - row[j]);
            if (distance < best) {
                best = distance;
                best_i = i;
                best_j = j;
            }
        }
    }
    gap[r] = best;
    first[r] = best_i;
    second[r] = best_j;
}

int main() {
    const int elements = ROWS * WIDTH;

    float* h_x = new float[elements];
    read_binary("data/x.bin", h_x, elements);

    float* d_x;
    cudaMalloc(&d_x, elements * sizeof(float));
    cudaMemcpy(d_x, h_x, elements * sizeof(float), cudaMemcpyHostToDevice);

    float* d_gap;
    int* d_first;
    int* d_second;
    cudaMalloc(&d_gap, ROWS * sizeof(float));
    cudaMalloc(&d_first, ROWS * sizeof(int));
    cudaMalloc(&d_second, ROWS * sizeof(int));

    const int blockSize = 128;
    const int gridSize = (ROWS + blockSize - 1) / blockSize;
    closest_pair<<<gridSize, blockSize>>>(d_x, d_gap, d_first, d_second, ROWS, WIDTH);
    cudaDeviceSynchronize();

    float* h_gap = new float[ROWS];
    cudaMemcpy(h_gap, d_gap, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/gap.bin", h_gap, ROWS);
    int* h_first = new int[ROWS];
    cudaMemcpy(h_first, d_first, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/first.bin", reinterpret_cast<float*>(h_first), ROWS);
    int* h_second = new int[ROWS];
    cudaMemcpy(h_second, d_second, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/second.bin", reinterpret_cast<float*>(h_second), ROWS);

    cudaFree(d_x);
    cudaFree(d_gap);
    cudaFree(d_first);
    cudaFree(d_second);
    delete[] h_x;
    delete[] h_gap;
    delete[] h_first;
    delete[] h_second;
    return 0;
}
