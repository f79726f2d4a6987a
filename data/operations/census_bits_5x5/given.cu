constexpr int HEIGHT = 70;
constexpr int WIDTH = 110;

__device__ unsigned int census_signature(const float* image, int row, int col, int height, int width) {
    float centre = image[row * width + col];
    unsigned int bits = 0;
    for (int dr = -2; dr <= 2; ++dr) {
        for (int dc = -2; dc <= 2; ++dc) {
            if (dr == 0 && dc == 0) continue;
            int r = min(max(row + dr, 0), height - 1);
            int c = min(max(col + dc, 0), width - 1);
            bits = (bits << 1) | (image[r * width + c] < centre ? 1u : 0u);
        }
    }
    return bits;
}

__global__ void census_kernel(const float* left, const float* right, unsigned int* signature, int* cost,
                              int height, int width) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= height || col >= width) return;
    unsigned int a = census_signature(left, row, col, height, width);
    unsigned int b = census_signature(right, row, col, height, width);
    signature[row * width + col] = a;
    cost[row * width + col] = __popc(a ^ b);
}

int main() {
    int total = HEIGHT * WIDTH;

    float* d_left;
    cudaMalloc((void**)&d_left, total * sizeof(float));
    float* d_right;
    cudaMalloc((void**)&d_right, total * sizeof(float));
    unsigned int* d_signature;
    cudaMalloc((void**)&d_signature, total * sizeof(unsigned int));
    int* d_cost;
    cudaMalloc((void**)&d_cost, total * sizeof(int));

    float* h_left = new float[total];
    read_binary("data/left.bin", h_left, total);
    cudaMemcpy(d_left, h_left, total * sizeof(float), cudaMemcpyHostToDevice);
    float* h_right = new float[total];
    read_binary("data/right.bin", h_right, total);
    cudaMemcpy(d_right, h_right, total * sizeof(float), cudaMemcpyHostToDevice);

    dim3 threads(16, 16);
    dim3 blocks((WIDTH + threads.x - 1) / threads.x, (HEIGHT + threads.y - 1) / threads.y);
    census_kernel<<<blocks, threads>>>(d_left, d_right, d_signature, d_cost, HEIGHT, WIDTH);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    unsigned int* h_signature = new unsigned int[total];
    int* h_cost = new int[total];
    cudaMemcpy(h_signature, d_signature, total * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_cost, d_cost, total * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/signature.bin", reinterpret_cast<float*>(h_signature), total);
    write_binary("data/cost.bin", reinterpret_cast<float*>(h_cost), total);

    cudaFree(d_left);
    cudaFree(d_right);
    cudaFree(d_signature);
    cudaFree(d_cost);
    delete[] h_left;
    delete[] h_right;
    delete[] h_signature;
    delete[] h_cost;
    return 0;
}
