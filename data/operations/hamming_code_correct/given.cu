constexpr int kN = 9000;

__global__ void decode_bytes(const uint8_t* received, uint8_t* data, uint8_t* status, int* totals, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = received[i];
    int s = 0;
    for (int b = 0; b < 7; ++b) {
        if (v & (1 << b)) s ^= b + 1;
    }
    int state = 0;
    if (__popc(v) & 1) {
        if (s > 0) v ^= 1 << (s - 1);
        state = 1;
    } else if (s > 0) {
        state = 2;
    }
    data[i] = ((v >> 2) & 1) | (((v >> 4) & 7) << 1);
    status[i] = state;
    atomicAdd(&totals[state], 1);
}

int main() {
    const size_t received_floats = (kN + 3) / 4;
    std::vector<uint8_t> h_received(4 * received_floats);
    read_binary("data/received.bin", reinterpret_cast<float*>(h_received.data()), received_floats);
    std::vector<uint8_t> h_data(kN);
    std::vector<uint8_t> h_status(kN);
    std::vector<int> h_totals(3);

    uint8_t *d_received, *d_data, *d_status;
    int *d_totals;
    cudaMalloc(&d_received, kN * sizeof(uint8_t));
    cudaMalloc(&d_data, kN * sizeof(uint8_t));
    cudaMalloc(&d_status, kN * sizeof(uint8_t));
    cudaMalloc(&d_totals, 3 * sizeof(int));
    cudaMemcpy(d_received, h_received.data(), kN * sizeof(uint8_t), cudaMemcpyHostToDevice);

    cudaMemset(d_totals, 0, 3 * sizeof(int));
    const int block = 256;
    const int grid = (kN + block - 1) / block;
    decode_bytes<<<grid, block>>>(d_received, d_data, d_status, d_totals, kN);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "GPU error\n";
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_data.data(), d_data, kN * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_status.data(), d_status, kN * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_totals.data(), d_totals, 3 * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream data_file("data/data.bin", std::ios::binary);
    data_file.write(reinterpret_cast<const char*>(h_data.data()), kN);
    std::ofstream status_file("data/status.bin", std::ios::binary);
    status_file.write(reinterpret_cast<const char*>(h_status.data()), kN);
    write_binary("data/totals.bin", reinterpret_cast<const float*>(h_totals.data()), 3);

    cudaFree(d_received);
    cudaFree(d_data);
    cudaFree(d_status);
    cudaFree(d_totals);
    return 0;
}
