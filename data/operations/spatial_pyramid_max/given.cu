const int PLANES = 30;
const int HEIGHT = 30;
const int WIDTH = 41;

__global__ void pyramid_max(const float* maps, float* bins, int planes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * 21) return;
    int bin = i % 21;
    int g = 4;
    int cell = bin - 5;
    if (bin == 0) {
        g = 1;
        cell = 0;
    } else if (bin < 5) {
        g = 2;
        cell = bin - 1;
    }
    int row = cell / g;
    int col = cell % g;
    int top = row * HEIGHT / g;
    int bottom = ((row + 1) * HEIGHT + g - 1) / g;
    int left = col * WIDTH / g;
    int right = ((col + 1) * WIDTH + g - 1) / g;
    const float* map = maps + (size_t)(i / 21) * HEIGHT * WIDTH;
    float best = -FLT_MAX;
    for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) best = fmaxf(best, map[y * WIDTH + x]);
    }
    bins[i] = best;
}

int main() {
    float* h_maps = new float[PLANES * HEIGHT * WIDTH];
    float* h_bins = new float[PLANES * 21];
    read_binary("data/maps.bin", h_maps, PLANES * HEIGHT * WIDTH);

    float* d_maps = nullptr;
    cudaMalloc(&d_maps, sizeof(float) * PLANES * HEIGHT * WIDTH);
    cudaMemcpy(d_maps, h_maps, sizeof(float) * PLANES * HEIGHT * WIDTH, cudaMemcpyHostToDevice);
    float* d_bins = nullptr;
    cudaMalloc(&d_bins, sizeof(float) * PLANES * 21);

    const int threads = 128;
    const int blocks = (PLANES * 21 + threads - 1) / threads;
    pyramid_max<<<blocks, threads>>>(d_maps, d_bins, PLANES);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "spatial kernel\n";
        return 1;
    }

    cudaMemcpy(h_bins, d_bins, sizeof(float) * PLANES * 21, cudaMemcpyDeviceToHost);
    write_binary("data/bins.bin", h_bins, PLANES * 21);

    cudaFree(d_maps);
    delete[] h_maps;
    cudaFree(d_bins);
    delete[] h_bins;
    return 0;
}
