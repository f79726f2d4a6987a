constexpr int HEIGHT = 60;
constexpr int WIDTH = 80;
constexpr int N_BOXES = 3000;

__global__ void box_sums(const int* table, const int* boxes, int* total, float* mean, int height,
                         int width, int n_boxes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_boxes) return;
    int y0 = min(max(boxes[4 * i], 0), height);
    int x0 = min(max(boxes[4 * i + 1], 0), width);
    int y1 = min(max(boxes[4 * i + 2], 0), height);
    int x1 = min(max(boxes[4 * i + 3], 0), width);
    if (y1 <= y0 || x1 <= x0) {
        total[i] = 0;
        mean[i] = 0.0f;
        return;
    }
    const int pitch = width + 1;
    int sum = table[y1 * pitch + x1] - table[y0 * pitch + x1] - table[y1 * pitch + x0] + table[y0 * pitch + x0];
    total[i] = sum;
    mean[i] = (float)sum / ((y1 - y0) * (x1 - x0));
}

int main() {
    const int table_size = (HEIGHT + 1) * (WIDTH + 1);
    const int boxes_size = N_BOXES * 4;
    int* h_table = new int[table_size];
    int* h_boxes = new int[boxes_size];
    int* h_total = new int[N_BOXES];
    float* h_mean = new float[N_BOXES];
    read_binary("data/table.bin", reinterpret_cast<float*>(h_table), table_size);
    read_binary("data/boxes.bin", reinterpret_cast<float*>(h_boxes), boxes_size);

    int *d_table, *d_boxes, *d_total;
    float *d_mean;
    cudaMalloc(&d_table, sizeof(int) * table_size);
    cudaMemcpy(d_table, h_table, sizeof(int) * table_size, cudaMemcpyHostToDevice);
    cudaMalloc(&d_boxes, sizeof(int) * boxes_size);
    cudaMemcpy(d_boxes, h_boxes, sizeof(int) * boxes_size, cudaMemcpyHostToDevice);
    cudaMalloc(&d_total, sizeof(int) * N_BOXES);
    cudaMalloc(&d_mean, sizeof(float) * N_BOXES);

    const int block_size = 256;
    const int grid_size = (N_BOXES + block_size - 1) / block_size;
    box_sums<<<grid_size, block_size>>>(d_table, d_boxes, d_total, d_mean, HEIGHT, WIDTH, N_BOXES);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_total, d_total, sizeof(int) * N_BOXES, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_mean, d_mean, sizeof(float) * N_BOXES, cudaMemcpyDeviceToHost);
    write_binary("data/total.bin", reinterpret_cast<const float*>(h_total), N_BOXES);
    write_binary("data/mean.bin", h_mean, N_BOXES);

    cudaFree(d_table);
    cudaFree(d_boxes);
    cudaFree(d_total);
    cudaFree(d_mean);
    delete[] h_table;
    delete[] h_boxes;
    delete[] h_total;
    delete[] h_mean;
    return 0;
}
