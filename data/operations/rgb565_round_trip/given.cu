#define N 5000

__global__ void pack_rgb565(const unsigned char* rgb, unsigned short* packed, int* error, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    int r5 = (r * 31 + 127) / 255;
    int g6 = (g * 63 + 127) / 255;
    int b5 = (b * 31 + 127) / 255;
    packed[i] = (unsigned short)((r5 << 11) | (g6 << 5) | b5);
    int lost = abs(r - ((r5 << 3) | (r5 >> 2)));
    lost += abs(g - ((g6 << 2) | (g6 >> 4)));
    lost += abs(b - ((b5 << 3) | (b5 >> 2)));
    error[i] = lost;
}

int main() {
    const int count = N * 3;
    const size_t rgb_floats = (count + 3) / 4;
    unsigned char* h_rgb = new unsigned char[4 * rgb_floats];
    unsigned short* h_packed = new unsigned short[N];
    int* h_error = new int[N];
    read_binary("data/rgb.bin", reinterpret_cast<float*>(h_rgb), rgb_floats);

    unsigned char* d_rgb;
    cudaMalloc(&d_rgb, count * sizeof(unsigned char));
    cudaMemcpy(d_rgb, h_rgb, count * sizeof(unsigned char), cudaMemcpyHostToDevice);
    unsigned short* d_packed;
    cudaMalloc(&d_packed, sizeof(unsigned short) * N);
    int* d_error;
    cudaMalloc(&d_error, sizeof(int) * N);

    const int block = 256;
    const int grid = (N + block - 1) / block;
    pack_rgb565<<<grid, block>>>(d_rgb, d_packed, d_error, N);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_packed, d_packed, sizeof(unsigned short) * N, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_error, d_error, sizeof(int) * N, cudaMemcpyDeviceToHost);
    std::ofstream out("data/packed.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_packed), sizeof(unsigned short) * N);
    write_binary("data/error.bin", reinterpret_cast<const float*>(h_error), N);

    cudaFree(d_rgb);
    delete[] h_rgb;
    cudaFree(d_packed);
    delete[] h_packed;
    cudaFree(d_error);
    delete[] h_error;
    return 0;
}
