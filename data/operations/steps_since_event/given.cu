const int ROWS = 70;
const int COLS = 300;

__global__ void event_age(const unsigned char* event, int* age, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int last = -1;
    for (int c = 0; c < cols; ++c) {
        if (event[r * cols + c] != 0) last = c;
        age[r * cols + c] = last >= 0 ? c - last : -1;
    }
}

int main() {
    const int n = ROWS * COLS;

    unsigned char* h_event = new unsigned char[(n + 3) / 4 * 4];
    int* h_age = new int[n];

    read_binary("data/event.bin", reinterpret_cast<float*>(h_event), (n + 3) / 4);

    unsigned char* d_event = nullptr;
    int* d_age = nullptr;
    cudaMalloc(&d_event, sizeof(unsigned char) * n);
    cudaMalloc(&d_age, sizeof(int) * n);

    cudaMemcpy(d_event, h_event, sizeof(unsigned char) * n, cudaMemcpyHostToDevice);

    const int block_size = 128;
    const int grid_size = (ROWS + block_size - 1) / block_size;
    event_age<<<grid_size, block_size>>>(d_event, d_age, ROWS, COLS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_age, d_age, sizeof(int) * n, cudaMemcpyDeviceToHost);

    write_binary("data/age.bin", reinterpret_cast<float*>(h_age), n);

    delete[] h_event;
    delete[] h_age;
    cudaFree(d_event);
    cudaFree(d_age);
    return 0;
}
