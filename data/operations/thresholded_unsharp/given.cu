const int HEIGHT = 90;
const int WIDTH = 160;

__device__ int reflect(int i, int n) {
    if (i < 0) return -1 - i;
    if (i >= n) return 2 * n - 1 - i;
    return i;
}

__global__ void unsharp(const float* photo, float* sharp, int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx)
            sum += photo[reflect(y + dy, height) * width + reflect(x + dx, width)];
    float v = photo[y * width + x];
    float d = v - sum / 25.0f;
    float e = 0.0f;
    if (d > 4.0f) e = d - 4.0f;
    else if (d < -4.0f) e = d + 4.0f;
    sharp[y * width + x] = fminf(fmaxf(v + 1.5f * e, 0.0f), 255.0f);
}

int main() {
    std::vector<float> h_photo(HEIGHT * WIDTH);
    read_binary("data/photo.bin", h_photo.data(), HEIGHT * WIDTH);
    std::vector<float> h_sharp(HEIGHT * WIDTH);

    float* d_photo = nullptr;
    cudaMalloc(&d_photo, HEIGHT * WIDTH * sizeof(float));
    float* d_sharp = nullptr;
    cudaMalloc(&d_sharp, HEIGHT * WIDTH * sizeof(float));

    cudaMemcpy(d_photo, h_photo.data(), HEIGHT * WIDTH * sizeof(float), cudaMemcpyHostToDevice);

    const dim3 block(32, 4);
    const dim3 grid((WIDTH + 32 - 1) / 32, (HEIGHT + 4 - 1) / 4);
    unsharp<<<grid, block>>>(d_photo, d_sharp, HEIGHT, WIDTH);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "error in the kernel: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(h_sharp.data(), d_sharp, HEIGHT * WIDTH * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/sharp.bin", h_sharp.data(), HEIGHT * WIDTH);
    cudaFree(d_photo);
    cudaFree(d_sharp);
    return 0;
}
