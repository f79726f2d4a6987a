#define HEIGHT 80
#define WORDS 7

__constant__ int matrix[16] = {12, 5, 6, 13, 4, 0, 1, 7, 11, 3, 2, 8, 15, 10, 9, 14};

__global__ void halftone_rows(const unsigned char* gray, unsigned int* bits, int* black, int words) {
    int y = blockIdx.x;
    int count = 0;
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    for (int w = threadIdx.x; w < words; w += blockDim.x) {
        const unsigned char* pixel = gray + ((size_t)y * words + w) * 32;
        unsigned int word = 0;
        for (int k = 0; k < 32; ++k) {
            int m = matrix[(y % 4) * 4 + k % 4];
            unsigned int dot = pixel[k] < 16 * m + 8 ? 1u : 0u;
            word = (word << 1) | dot;
        }
        bits[(size_t)y * words + w] = word;
        count += __popc(word);
    }
    atomicAdd(&total, count);
    __syncthreads();
    if (threadIdx.x == 0) black[y] = total;
}

int main() {
    const size_t gray_total = HEIGHT * WORDS * 32;
    const int bits_size = HEIGHT * WORDS;
    const size_t gray_floats = (gray_total + 3) / 4;

    std::vector<unsigned char> h_gray(4 * gray_floats);
    std::vector<unsigned int> h_bits(bits_size);
    std::vector<int> h_black(HEIGHT);
    read_binary("data/gray.bin", reinterpret_cast<float*>(h_gray.data()), gray_floats);

    unsigned char* d_gray = nullptr;
    unsigned int* d_bits = nullptr;
    int* d_black = nullptr;
    cudaMalloc(&d_gray, gray_total * sizeof(unsigned char));
    cudaMalloc(&d_bits, bits_size * sizeof(unsigned int));
    cudaMalloc(&d_black, HEIGHT * sizeof(int));
    cudaMemcpy(d_gray, h_gray.data(), gray_total * sizeof(unsigned char), cudaMemcpyHostToDevice);

    halftone_rows<<<HEIGHT, 128>>>(d_gray, d_bits, d_black, WORDS);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "kernel failed" << std::endl;
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_bits.data(), d_bits, bits_size * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    write_binary("data/bits.bin", reinterpret_cast<const float*>(h_bits.data()), bits_size);
    cudaMemcpy(h_black.data(), d_black, HEIGHT * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/black.bin", reinterpret_cast<const float*>(h_black.data()), HEIGHT);

    cudaFree(d_gray);
    cudaFree(d_bits);
    cudaFree(d_black);
    return 0;
}
