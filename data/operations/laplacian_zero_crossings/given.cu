#define HEIGHT 50
#define WIDTH 66

__global__ void laplace(const int* image, int* laplacian) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    int sum = 9 * image[y * WIDTH + x];
    for (int dy = -1; dy <= 1; ++dy) {
        int row = min(max(y + dy, 0), HEIGHT - 1);
        for (int dx = -1; dx <= 1; ++dx) {
            int col = min(max(x + dx, 0), WIDTH - 1);
            sum -= image[row * WIDTH + col];
        }
    }
    laplacian[y * WIDTH + x] = sum;
}

__device__ bool crosses_zero(int a, int b) {
    bool opposite = (a > 0 && b < 0) || (a < 0 && b > 0);
    return opposite && abs(a - b) > 40;
}

__global__ void mark_crossings(const int* laplacian, unsigned char* crossing) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    int i = y * WIDTH + x;
    bool mark = false;
    if (x + 1 < WIDTH && crosses_zero(laplacian[i], laplacian[i + 1])) mark = true;
    if (y + 1 < HEIGHT && crosses_zero(laplacian[i], laplacian[i + WIDTH])) mark = true;
    crossing[i] = mark ? 1 : 0;
}

int main() {
    const size_t count = HEIGHT * WIDTH;

    std::vector<int> h_image(count);
    read_binary("data/image.bin", reinterpret_cast<float*>(h_image.data()), count);
    int* d_image = nullptr;
    cudaMalloc(&d_image, count * sizeof(int));
    cudaMemcpy(d_image, h_image.data(), count * sizeof(int), cudaMemcpyHostToDevice);

    std::vector<int> h_laplacian(count);
    int* d_laplacian = nullptr;
    cudaMalloc(&d_laplacian, count * sizeof(int));
    std::vector<unsigned char> h_crossing(count);
    unsigned char* d_crossing = nullptr;
    cudaMalloc(&d_crossing, count * sizeof(unsigned char));

    dim3 block(32, 8);
    dim3 grid((WIDTH + 31) / 32, (HEIGHT + 7) / 8);
    laplace<<<grid, block>>>(d_image, d_laplacian);
    mark_crossings<<<grid, block>>>(d_laplacian, d_crossing);
    cudaDeviceSynchronize();

    cudaMemcpy(h_laplacian.data(), d_laplacian, count * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_crossing.data(), d_crossing, count * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    write_binary("data/laplacian.bin", reinterpret_cast<const float*>(h_laplacian.data()), count);
    std::ofstream crossing_file("data/crossing.bin", std::ios::binary);
    crossing_file.write(reinterpret_cast<const char*>(h_crossing.data()), count);

    cudaFree(d_image);
    cudaFree(d_laplacian);
    cudaFree(d_crossing);
    return 0;
}
