#define HEIGHT 150
#define WIDTH 200

__global__ void divide_by_energy(const float* image, float* response, int height, int width) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= height || c >= width) return;
    float sum = 0.0f;
    int used = 0;
    for (int dr = -3; dr <= 3; ++dr) {
        for (int dc = -3; dc <= 3; ++dc) {
            int y = r + dr;
            int x = c + dc;
            if (y >= 0 && y < height && x >= 0 && x < width) {
                float v = image[y * width + x];
                sum += v * v;
                ++used;
            }
        }
    }
    response[r * width + c] = image[r * width + c] / (0.2f + sqrtf(sum / used));
}

int main() {
    const int count = HEIGHT * WIDTH;
    const size_t size_bytes = count * sizeof(float);
    float* h_image = new float[count];
    read_binary("data/image.bin", h_image, count);
    float* d_image;
    cudaMalloc(&d_image, size_bytes);
    cudaMemcpy(d_image, h_image, size_bytes, cudaMemcpyHostToDevice);

    float* h_response = new float[count];
    float* d_response;
    cudaMalloc(&d_response, size_bytes);

    dim3 block(32, 8);
    dim3 grid((WIDTH + 31) / 32, (HEIGHT + 7) / 8);
    divide_by_energy<<<grid, block>>>(d_image, d_response, HEIGHT, WIDTH);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_response, d_response, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/response.bin", h_response, count);

    cudaFree(d_image);
    delete[] h_image;
    cudaFree(d_response);
    delete[] h_response;
    return 0;
}
