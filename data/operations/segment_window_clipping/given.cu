#define N 4000

__global__ void clip_segments(const float* segments, float* clipped, uint8_t* kept, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x0 = segments[4 * i], y0 = segments[4 * i + 1];
    float dx = segments[4 * i + 2] - x0;
    float dy = segments[4 * i + 3] - y0;
    float xa = (-1.0f - x0) / dx, xb = (1.0f - x0) / dx;
    float ya = (-1.0f - y0) / dy, yb = (1.0f - y0) / dy;
    float lower = fmaxf(0.0f, fmaxf(fminf(xa, xb), fminf(ya, yb)));
    float upper = fminf(1.0f, fminf(fmaxf(xa, xb), fmaxf(ya, yb)));
    bool inside = lower <= upper;
    kept[i] = inside ? 1 : 0;
    clipped[4 * i] = inside ? x0 + lower * dx : 0.0f;
    clipped[4 * i + 1] = inside ? y0 + lower * dy : 0.0f;
    clipped[4 * i + 2] = inside ? x0 + upper * dx : 0.0f;
    clipped[4 * i + 3] = inside ? y0 + upper * dy : 0.0f;
}

int main() {
    int size = N * 4;
    const size_t bytes = size * sizeof(float);

    float* h_segments = new float[size];
    float* h_clipped = new float[size];
    uint8_t* h_kept = new uint8_t[N];

    read_binary("data/segments.bin", h_segments, size);

    float *d_segments, *d_clipped;
    uint8_t* d_kept;
    cudaMalloc(&d_segments, bytes);
    cudaMalloc(&d_clipped, bytes);
    cudaMalloc(&d_kept, N * sizeof(uint8_t));
    cudaMemcpy(d_segments, h_segments, bytes, cudaMemcpyHostToDevice);

    int threads = 256;
    int blocks = (N + threads - 1) / threads;
    clip_segments<<<blocks, threads>>>(d_segments, d_clipped, d_kept, N);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_clipped, d_clipped, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/clipped.bin", h_clipped, size);
    cudaMemcpy(h_kept, d_kept, N * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    std::ofstream out("data/kept.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_kept), N);
    out.close();

    cudaFree(d_segments);
    cudaFree(d_clipped);
    cudaFree(d_kept);
    delete[] h_segments;
    delete[] h_clipped;
    delete[] h_kept;
    return 0;
}
