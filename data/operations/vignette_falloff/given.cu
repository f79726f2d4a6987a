const int CHANNELS = 3;
const int HEIGHT = 60;
const int WIDTH = 80;

__global__ void correct_falloff(const float* image, const float* coefficients, float* corrected,
                                int height, int width, int total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    int x = i % width;
    int y = i / width % height;
    int c = i / (width * height);
    float cx = 0.5f * (width - 1);
    float cy = 0.5f * (height - 1);
    float t = ((x - cx) * (x - cx) + (y - cy) * (y - cy)) / (cx * cx + cy * cy);
    const float* k = coefficients + 3 * c;
    float falloff = 1.0f + k[0] * t + k[1] * t * t + k[2] * t * t * t;
    corrected[i] = image[i] / fmaxf(falloff, 0.2f);
}

int main() {
    const int count = CHANNELS * HEIGHT * WIDTH;
    const int coefficients_count = CHANNELS * 3;
    float* h_image = new float[count];
    float* h_coefficients = new float[coefficients_count];
    float* h_corrected = new float[count];
    read_binary("data/image.bin", h_image, count);
    read_binary("data/coefficients.bin", h_coefficients, coefficients_count);

    float* d_image = nullptr;
    float* d_coefficients = nullptr;
    float* d_corrected = nullptr;
    cudaMalloc(&d_image, count * sizeof(float));
    cudaMalloc(&d_coefficients, coefficients_count * sizeof(float));
    cudaMalloc(&d_corrected, count * sizeof(float));
    cudaMemcpy(d_image, h_image, count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_coefficients, h_coefficients, coefficients_count * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 256;
    int blocks = (count + threads - 1) / threads;
    correct_falloff<<<blocks, threads>>>(d_image, d_coefficients, d_corrected, HEIGHT, WIDTH, count);
    cudaDeviceSynchronize();

    cudaMemcpy(h_corrected, d_corrected, count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/corrected.bin", h_corrected, count);

    cudaFree(d_image);
    cudaFree(d_coefficients);
    cudaFree(d_corrected);
    delete[] h_image;
    delete[] h_coefficients;
    delete[] h_corrected;
    return 0;
}
