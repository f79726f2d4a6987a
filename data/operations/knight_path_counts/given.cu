constexpr int kHeight = 50;
constexpr int kWidth = 70;

__global__ void clear_blocked(const uint8_t* blocked, const uint32_t* initial, uint32_t* counts,
                              int height, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < height * width) counts[i] = blocked[i] ? 0u : initial[i];
}

__global__ void knight_move(const uint8_t* blocked, const uint32_t* from, uint32_t* to, int height, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height * width) return;
    const int dy[8] = {-2, -2, -1, -1, 1, 1, 2, 2};
    const int dx[8] = {-1, 1, -2, 2, -2, 2, -1, 1};
    int y = i / width, x = i % width;
    uint32_t sum = 0;
    if (!blocked[i]) {
        for (int k = 0; k < 8; ++k) {
            int yy = y + dy[k], xx = x + dx[k];
            if (yy >= 0 && yy < height && xx >= 0 && xx < width) sum += from[yy * width + xx];
        }
    }
    to[i] = sum;
}

int main() {
    const int length = kHeight * kWidth;
    const size_t blocked_floats = (length + 3) / 4;
    uint8_t* h_blocked = new uint8_t[4 * blocked_floats];
    read_binary("data/blocked.bin", reinterpret_cast<float*>(h_blocked), blocked_floats);
    uint8_t* d_blocked = nullptr;
    cudaMalloc(&d_blocked, length * sizeof(uint8_t));
    cudaMemcpy(d_blocked, h_blocked, length * sizeof(uint8_t), cudaMemcpyHostToDevice);

    uint32_t* h_initial = new uint32_t[length];
    read_binary("data/initial.bin", reinterpret_cast<float*>(h_initial), length);
    uint32_t* d_initial = nullptr;
    cudaMalloc(&d_initial, length * sizeof(uint32_t));
    cudaMemcpy(d_initial, h_initial, length * sizeof(uint32_t), cudaMemcpyHostToDevice);

    uint32_t* h_walks = new uint32_t[length];
    uint32_t* d_walks = nullptr;
    cudaMalloc(&d_walks, length * sizeof(uint32_t));
    uint32_t* d_buffer = nullptr;
    cudaMalloc(&d_buffer, length * sizeof(uint32_t));

    const int threads = 256;
    const int blocks = (length + threads - 1) / threads;
    clear_blocked<<<blocks, threads>>>(d_blocked, d_initial, d_walks, kHeight, kWidth);
    for (int k = 0; k < 3; ++k) {
        knight_move<<<blocks, threads>>>(d_blocked, d_walks, d_buffer, kHeight, kWidth);
        knight_move<<<blocks, threads>>>(d_blocked, d_buffer, d_walks, kHeight, kWidth);
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_walks, d_walks, length * sizeof(uint32_t), cudaMemcpyDeviceToHost);
    write_binary("data/walks.bin", reinterpret_cast<const float*>(h_walks), length);

    cudaFree(d_blocked);
    cudaFree(d_initial);
    cudaFree(d_walks);
    cudaFree(d_buffer);
    delete[] h_blocked;
    delete[] h_initial;
    delete[] h_walks;
    return 0;
}
