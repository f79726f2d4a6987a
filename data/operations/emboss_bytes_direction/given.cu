const int BATCH = 4;
const int HEIGHT = 50;
const int WIDTH = 60;

__device__ int pixel(const unsigned char* image, int y, int x) {
    y = min(max(y, 0), HEIGHT - 1);
    x = min(max(x, 0), WIDTH - 1);
    return image[y * WIDTH + x];
}

__global__ void emboss(const unsigned char* images, const int* direction, const int* gain,
                       unsigned char* relief) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int b = blockIdx.z;
    if (x >= WIDTH || y >= HEIGHT) return;
    const int step_y[8] = {0, 1, 1, 1, 0, -1, -1, -1};
    const int step_x[8] = {1, 1, 0, -1, -1, -1, 0, 1};
    int dy = step_y[direction[b]];
    int dx = step_x[direction[b]];
    const unsigned char* image = images + b * HEIGHT * WIDTH;
    int v = (pixel(image, y + dy, x + dx) - pixel(image, y - dy, x - dx)) * gain[b];
    int half = v >= 0 ? v / 2 : -((1 - v) / 2);
    int shade = min(max(half + 128, 0), 255);
    relief[(b * HEIGHT + y) * WIDTH + x] = (unsigned char)shade;
}

int main() {
    const int numel = BATCH * HEIGHT * WIDTH;
    const size_t images_floats = (numel + 3) / 4;

    std::vector<unsigned char> h_images(4 * images_floats);
    std::vector<int> h_direction(BATCH);
    std::vector<int> h_gain(BATCH);
    std::vector<unsigned char> h_relief(numel);

    read_binary("data/images.bin", reinterpret_cast<float*>(h_images.data()), images_floats);
    read_binary("data/direction.bin", reinterpret_cast<float*>(h_direction.data()), BATCH);
    read_binary("data/gain.bin", reinterpret_cast<float*>(h_gain.data()), BATCH);

    unsigned char* d_images;
    int* d_direction;
    int* d_gain;
    unsigned char* d_relief;
    cudaMalloc(&d_images, numel * sizeof(unsigned char));
    cudaMalloc(&d_direction, BATCH * sizeof(int));
    cudaMalloc(&d_gain, BATCH * sizeof(int));
    cudaMalloc(&d_relief, numel * sizeof(unsigned char));
    cudaMemcpy(d_images, h_images.data(), numel * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemcpy(d_direction, h_direction.data(), BATCH * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gain, h_gain.data(), BATCH * sizeof(int), cudaMemcpyHostToDevice);

    dim3 threads(16, 16);
    dim3 blocks((WIDTH + 15) / 16, (HEIGHT + 15) / 16, BATCH);
    emboss<<<blocks, threads>>>(d_images, d_direction, d_gain, d_relief);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "emboss kernel" << std::endl;
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_relief.data(), d_relief, numel * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream out("data/relief.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_relief.data()), numel);

    cudaFree(d_relief);
    cudaFree(d_gain);
    cudaFree(d_direction);
    cudaFree(d_images);
    return 0;
}
