const int NODES = 500;
const int ENTRIES = 3000;
const int WALKS = 300;
const int STEPS = 12;

__global__ void walk(const int* row_start, const int* neighbor, const int* origin, const float* draw,
                     int* path, int walks, int steps) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= walks) return;
    int v = origin[w];
    for (int t = 0; t < steps; ++t) {
        int begin = row_start[v];
        int d = row_start[v + 1] - begin;
        if (d > 0) {
            int k = (int)(draw[t * walks + w] * (float)d);
            if (k > d - 1) k = d - 1;
            v = neighbor[begin + k];
        }
        path[t * walks + w] = v;
    }
}

int main() {
    const int row_start_size = NODES + 1;
    const int count = STEPS * WALKS;

    int* h_row_start = new int[row_start_size];
    int* h_neighbor = new int[ENTRIES];
    int* h_origin = new int[WALKS];
    float* h_draw = new float[count];
    read_binary("data/row_start.bin", reinterpret_cast<float*>(h_row_start), row_start_size);
    read_binary("data/neighbor.bin", reinterpret_cast<float*>(h_neighbor), ENTRIES);
    read_binary("data/origin.bin", reinterpret_cast<float*>(h_origin), WALKS);
    read_binary("data/draw.bin", h_draw, count);

    int* d_row_start = nullptr;
    int* d_neighbor = nullptr;
    int* d_origin = nullptr;
    float* d_draw = nullptr;
    int* d_path = nullptr;
    cudaMalloc(&d_row_start, row_start_size * sizeof(int));
    cudaMalloc(&d_neighbor, ENTRIES * sizeof(int));
    cudaMalloc(&d_origin, WALKS * sizeof(int));
    cudaMalloc(&d_draw, count * sizeof(float));
    cudaMalloc(&d_path, count * sizeof(int));
    cudaMemcpy(d_row_start, h_row_start, row_start_size * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_neighbor, h_neighbor, ENTRIES * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_origin, h_origin, WALKS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_draw, h_draw, count * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(128);
    dim3 grid((WALKS + block.x - 1) / block.x);
    walk<<<grid, block>>>(d_row_start, d_neighbor, d_origin, d_draw, d_path, WALKS, STEPS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    int* h_path = new int[count];
    cudaMemcpy(h_path, d_path, count * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/path.bin", reinterpret_cast<const float*>(h_path), count);

    cudaFree(d_row_start);
    cudaFree(d_neighbor);
    cudaFree(d_origin);
    cudaFree(d_draw);
    cudaFree(d_path);
    delete[] h_row_start;
    delete[] h_neighbor;
    delete[] h_origin;
    delete[] h_draw;
    delete[] h_path;
    return 0;
}
