const int ROWS = 80;
const int COLS = 350;

__global__ void cusum_chart(const int* x, const int* target, unsigned char* alarm, int* alarms,
                            int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int up = 0, down = 0, count = 0;
    for (int c = 0; c < cols; ++c) {
        int d = x[r * cols + c] - target[r];
        up = max(0, up + d - 4);
        down = max(0, down - d - 4);
        int code = 0;
        if (up > 40) code += 1;
        if (down > 40) code += 2;
        alarm[r * cols + c] = (unsigned char)code;
        if (code > 0) {
            up = 0;
            down = 0;
            ++count;
        }
    }
    alarms[r] = count;
}

int main() {
    size_t size = (size_t)ROWS * COLS;

    std::vector<int> h_x(size);
    std::vector<int> h_target(ROWS);
    std::vector<unsigned char> h_alarm(size);
    std::vector<int> h_alarms(ROWS);

    read_binary("data/x.bin", reinterpret_cast<float*>(h_x.data()), size);
    read_binary("data/target.bin", reinterpret_cast<float*>(h_target.data()), ROWS);

    int* d_x = nullptr;
    int* d_target = nullptr;
    unsigned char* d_alarm = nullptr;
    int* d_alarms = nullptr;
    cudaMalloc(&d_x, size * sizeof(int));
    cudaMalloc(&d_target, ROWS * sizeof(int));
    cudaMalloc(&d_alarm, size * sizeof(unsigned char));
    cudaMalloc(&d_alarms, ROWS * sizeof(int));

    cudaMemcpy(d_x, h_x.data(), size * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_target, h_target.data(), ROWS * sizeof(int), cudaMemcpyHostToDevice);

    int block = 128;
    int grid = (ROWS + block - 1) / block;
    cusum_chart<<<grid, block>>>(d_x, d_target, d_alarm, d_alarms, ROWS, COLS);

    cudaMemcpy(h_alarm.data(), d_alarm, size * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream out("data/alarm.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_alarm.data()), size);
    out.close();
    cudaMemcpy(h_alarms.data(), d_alarms, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/alarms.bin", reinterpret_cast<float*>(h_alarms.data()), ROWS);

    cudaFree(d_x);
    cudaFree(d_target);
    cudaFree(d_alarm);
    cudaFree(d_alarms);
    return 0;
}
