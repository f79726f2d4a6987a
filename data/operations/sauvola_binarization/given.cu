constexpr int kHeight = 60;
constexpr int kWidth = 90;
constexpr int kRadius = 4;

__global__ void sauvola(const unsigned char* page, unsigned char* ink, int height, int width, int radius) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int y0 = max(y - radius, 0), y1 = min(y + radius, height - 1);
    int x0 = max(x - radius, 0), x1 = min(x + radius, width - 1);
    int n = (y1 - y0 + 1) * (x1 - x0 + 1);
    int sum = 0, squares = 0;
    for (int yy = y0; yy <= y1; ++yy)
        for (int xx = x0; xx <= x1; ++xx) {
            int v = page[yy * width + xx];
            sum += v;
            squares += v * v;
        }
    double mean = (double)sum / n;
    double variance = (double)squares / n - mean * mean;
    double deviation = sqrt(fmax(variance, 0.0));
    double limit = mean * (1.0 + 0.2 * (deviation / 128.0 - 1.0));
    ink[y * width + x] = page[y * width + x] <= limit ? 1 : 0;
}

int main() {
    const size_t bytes = kHeight * kWidth * sizeof(unsigned char);
    unsigned char* h_page = new unsigned char[(kHeight * kWidth + 3) / 4 * 4];
    read_binary("data/page.bin", reinterpret_cast<float*>(h_page), (kHeight * kWidth + 3) / 4);
    unsigned char* h_ink = new unsigned char[kHeight * kWidth];

    unsigned char* d_page = nullptr;
    cudaMalloc(&d_page, bytes);
    unsigned char* d_ink = nullptr;
    cudaMalloc(&d_ink, bytes);

    cudaMemcpy(d_page, h_page, bytes, cudaMemcpyHostToDevice);

    dim3 block(32, 4);
    dim3 grid((kWidth + block.x - 1) / block.x, (kHeight + block.y - 1) / block.y);
    sauvola<<<grid, block>>>(d_page, d_ink, kHeight, kWidth, kRadius);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "sauvola: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_ink, d_ink, bytes, cudaMemcpyDeviceToHost);
    std::ofstream out("data/ink.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_ink), kHeight * kWidth);
    cudaFree(d_page);
    cudaFree(d_ink);
    delete[] h_page;
    delete[] h_ink;
    return 0;
}
