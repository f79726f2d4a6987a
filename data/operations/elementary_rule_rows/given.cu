const int ROWS = 64;
const int WIDTH = 200;
const int GENERATIONS = 10;

__global__ void next_generation(const unsigned char* cells, const int* rule, unsigned char* evolved, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (x >= width) return;
    const unsigned char* row = cells + (size_t)r * width;
    int left = row[(x + width - 1) % width];
    int right = row[(x + 1) % width];
    int pattern = 4 * left + 2 * row[x] + right;
    evolved[(size_t)r * width + x] = (rule[r] >> pattern) & 1;
}

int main() {
    const int n = ROWS * WIDTH;
    const size_t cells_floats = (n + 3) / 4;

    unsigned char* h_cells = new unsigned char[4 * cells_floats];
    read_binary("data/cells.bin", reinterpret_cast<float*>(h_cells), cells_floats);
    int* h_rule = new int[ROWS];
    read_binary("data/rule.bin", reinterpret_cast<float*>(h_rule), ROWS);

    unsigned char *d_cells, *d_evolved;
    int *d_rule;
    cudaMalloc(&d_cells, n * sizeof(unsigned char));
    cudaMemcpy(d_cells, h_cells, n * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMalloc(&d_rule, ROWS * sizeof(int));
    cudaMemcpy(d_rule, h_rule, ROWS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_evolved, n * sizeof(unsigned char));

    dim3 block(128);
    dim3 grid((WIDTH + 127) / 128, ROWS);
    for (int g = 0; g < GENERATIONS; ++g) {
        next_generation<<<grid, block>>>(d_cells, d_rule, d_evolved, WIDTH);
        cudaMemcpy(d_cells, d_evolved, n, cudaMemcpyDeviceToDevice);
    }
    cudaDeviceSynchronize();

    unsigned char* h_evolved = new unsigned char[n];
    cudaMemcpy(h_evolved, d_evolved, n * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream evolved_file("data/evolved.bin", std::ios::binary);
    evolved_file.write(reinterpret_cast<const char*>(h_evolved), n);

    cudaFree(d_cells);
    delete[] h_cells;
    cudaFree(d_rule);
    delete[] h_rule;
    cudaFree(d_evolved);
    delete[] h_evolved;
    return 0;
}
