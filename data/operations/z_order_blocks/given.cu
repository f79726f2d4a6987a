const int PLANES = 2;
const int BLOCKS_Y = 4;
const int BLOCKS_X = 7;
const int HEIGHT = BLOCKS_Y * 16;
const int WIDTH = BLOCKS_X * 16;

// One block of threads per block of 16 x 16 pixels.
__global__ void z_order(const float* image, float* swizzled) {
    int x = threadIdx.x;
    int y = threadIdx.y;
    int place = 0;
    for (int bit = 0; bit < 4; ++bit) {
        place |= ((x >> bit) & 1) << (2 * bit);
        place |= ((y >> bit) & 1) << (2 * bit + 1);
    }
    int row = blockIdx.z * HEIGHT + blockIdx.y * 16 + y;
    int col = blockIdx.x * 16 + x;
    int tile = (blockIdx.z * BLOCKS_Y + blockIdx.y) * BLOCKS_X + blockIdx.x;
    swizzled[tile * 256 + place] = image[row * WIDTH + col];
}

int main() {
    const int swizzled_total = PLANES * BLOCKS_Y * BLOCKS_X * 256;
    float* h_image = new float[PLANES * HEIGHT * WIDTH];
    float* h_swizzled = new float[swizzled_total];
    read_binary("data/image.bin", h_image, PLANES * HEIGHT * WIDTH);

    float* d_image;
    cudaMalloc(&d_image, sizeof(float) * PLANES * HEIGHT * WIDTH);
    cudaMemcpy(d_image, h_image, sizeof(float) * PLANES * HEIGHT * WIDTH, cudaMemcpyHostToDevice);
    float* d_swizzled;
    cudaMalloc(&d_swizzled, swizzled_total * sizeof(float));

    dim3 block(16, 16);
    dim3 grid(BLOCKS_X, BLOCKS_Y, PLANES);
    z_order<<<grid, block>>>(d_image, d_swizzled);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "GPU error" << std::endl;
        return 1;
    }

    cudaMemcpy(h_swizzled, d_swizzled, swizzled_total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/swizzled.bin", h_swizzled, swizzled_total);

    cudaFree(d_image);
    cudaFree(d_swizzled);
    delete[] h_image;
    delete[] h_swizzled;
    return 0;
}
