constexpr int kChannels = 2;
constexpr int kDepth = 10;
constexpr int kHeight = 15;
constexpr int kWidth = 12;
constexpr int kCells = kChannels * kDepth * kHeight * kWidth;

__global__ void peak_pool(const float* volume, float* peak, uint8_t* place, int cells, int depth,
                          int height, int width) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= cells) return;
    int x = k % width;
    int y = k / width % height;
    int z = k / (width * height) % depth;
    int c = k / (width * height * depth);
    float best = 0.0f;
    int where = -1;
    for (int p = 0; p < 8; ++p) {
        int zz = 2 * z + (p >> 2), yy = 2 * y + ((p >> 1) & 1), xx = 2 * x + (p & 1);
        float v = volume[(((size_t)c * 2 * depth + zz) * 2 * height + yy) * 2 * width + xx];
        if (where < 0 || fabsf(v) > fabsf(best)) {
            best = v;
            where = p;
        }
    }
    peak[k] = best;
    place[k] = (uint8_t)where;
}

int main() {
    const size_t elements = kChannels * kDepth * 2 * kHeight * 2 * kWidth * 2;
    float* h_volume = new float[elements];
    read_binary("data/volume.bin", h_volume, elements);
    float* h_peak = new float[kCells];
    uint8_t* h_place = new uint8_t[kCells];

    float* d_volume = nullptr;
    float* d_peak = nullptr;
    uint8_t* d_place = nullptr;
    cudaMalloc(&d_volume, elements * sizeof(float));
    cudaMalloc(&d_peak, kCells * sizeof(float));
    cudaMalloc(&d_place, kCells * sizeof(uint8_t));
    cudaMemcpy(d_volume, h_volume, elements * sizeof(float), cudaMemcpyHostToDevice);

    const int block = 256;
    const int grid = (kCells + block - 1) / block;
    peak_pool<<<grid, block>>>(d_volume, d_peak, d_place, kCells, kDepth, kHeight, kWidth);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_peak, d_peak, kCells * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/peak.bin", h_peak, kCells);
    cudaMemcpy(h_place, d_place, kCells * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    std::ofstream out("data/place.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_place), kCells);

    cudaFree(d_volume);
    cudaFree(d_peak);
    cudaFree(d_place);
    delete[] h_volume;
    delete[] h_peak;
    delete[] h_place;
    return 0;
}
