const int HEIGHT = 70;
const int WIDTH = 110;
const int COLORS = 5;

__global__ void advance_cells(const int* state, int* next_state, int* advanced, int height, int width, int colors) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x >= width) return;
    int own = state[y * width + x];
    int wanted = (own + 1) % colors;
    int above = state[(y + height - 1) % height * width + x];
    int below = state[(y + 1) % height * width + x];
    int before = state[y * width + (x + width - 1) % width];
    int after = state[y * width + (x + 1) % width];
    if (above == wanted || below == wanted || before == wanted || after == wanted) {
        next_state[y * width + x] = wanted;
        atomicAdd(&advanced[y], 1);
    } else {
        next_state[y * width + x] = own;
    }
}

int main() {
    const int total = HEIGHT * WIDTH;

    int* h_state = new int[total];
    read_binary("data/state.bin", reinterpret_cast<float*>(h_state), total);
    int* d_state = nullptr;
    cudaMalloc(&d_state, total * sizeof(int));
    cudaMemcpy(d_state, h_state, total * sizeof(int), cudaMemcpyHostToDevice);

    int* h_next_state = new int[total];
    int* d_next_state = nullptr;
    cudaMalloc(&d_next_state, total * sizeof(int));
    int* h_advanced = new int[HEIGHT];
    int* d_advanced = nullptr;
    cudaMalloc(&d_advanced, HEIGHT * sizeof(int));

    cudaMemset(d_advanced, 0, HEIGHT * sizeof(int));
    dim3 block(128);
    dim3 grid((WIDTH + 127) / 128, HEIGHT);
    advance_cells<<<grid, block>>>(d_state, d_next_state, d_advanced, HEIGHT, WIDTH, COLORS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_next_state, d_next_state, total * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/next_state.bin", reinterpret_cast<const float*>(h_next_state), total);
    cudaMemcpy(h_advanced, d_advanced, HEIGHT * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/advanced.bin", reinterpret_cast<const float*>(h_advanced), HEIGHT);

    cudaFree(d_state);
    delete[] h_state;
    cudaFree(d_next_state);
    delete[] h_next_state;
    cudaFree(d_advanced);
    delete[] h_advanced;
    return 0;
}
