constexpr int kHeight = 50;
constexpr int kWidth = 75;
constexpr int kSide = 12;

__global__ void average_blocks(const uint8_t* picture, uint8_t* mosaic, int height, int width) {
    int x0 = (blockIdx.x * blockDim.x + threadIdx.x) * kSide;
    int y0 = (blockIdx.y * blockDim.y + threadIdx.y) * kSide;
    int c = blockIdx.z;
    if (x0 >= width || y0 >= height) return;
    int x1 = min(x0 + kSide, width);
    int y1 = min(y0 + kSide, height);
    int sum = 0;
    for (int y = y0; y < y1; ++y) {
        for (int x = x0; x < x1; ++x) sum += picture[(y * width + x) * 3 + c];
    }
    int pixels = (x1 - x0) * (y1 - y0);
    int mean = (2 * sum + pixels) / (2 * pixels);
    for (int y = y0; y < y1; ++y) {
        for (int x = x0; x < x1; ++x) mosaic[(y * width + x) * 3 + c] = (uint8_t)mean;
    }
}

int main() {
    const size_t elements = kHeight * kWidth * 3;
    const size_t picture_floats = (elements + 3) / 4;
    std::vector<uint8_t> h_picture(4 * picture_floats);
    read_binary("data/picture.bin", reinterpret_cast<float*>(h_picture.data()), picture_floats);
    uint8_t *d_picture, *d_mosaic;
    cudaMalloc(&d_picture, elements * sizeof(uint8_t));
    cudaMalloc(&d_mosaic, elements * sizeof(uint8_t));
    cudaMemcpy(d_picture, h_picture.data(), elements * sizeof(uint8_t), cudaMemcpyHostToDevice);

    const int across = (kWidth + kSide - 1) / kSide;
    const int down = (kHeight + kSide - 1) / kSide;
    dim3 block(16, 8);
    dim3 grid((across + 15) / 16, (down + 7) / 8, 3);
    average_blocks<<<grid, block>>>(d_picture, d_mosaic, kHeight, kWidth);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "mosaic kernel: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    std::vector<uint8_t> h_mosaic(elements);
    cudaMemcpy(h_mosaic.data(), d_mosaic, elements * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    std::ofstream mosaic_file("data/mosaic.bin", std::ios::binary);
    mosaic_file.write(reinterpret_cast<const char*>(h_mosaic.data()), elements);

    cudaFree(d_picture);
    cudaFree(d_mosaic);
    return 0;
}
