constexpr int kSegments = 50;
constexpr int kLength = 200;

__global__ void widen(const float* stereo, const float* width, float* widened, int* clipped,
                      int segments, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= segments * length) return;
    int seg = i / length;
    float left = stereo[2 * i];
    float right = stereo[2 * i + 1];
    float mid = 0.5f * (left + right);
    float side = 0.5f * (left - right) * width[seg];
    float l = mid + side;
    float r = mid - side;
    int count = (fabsf(l) > 1.0f) + (fabsf(r) > 1.0f);
    if (count > 0) atomicAdd(&clipped[seg], count);
    widened[2 * i] = fminf(fmaxf(l, -1.0f), 1.0f);
    widened[2 * i + 1] = fminf(fmaxf(r, -1.0f), 1.0f);
}

int main() {
    const int total = kSegments * kLength * 2;
    const size_t buffer_bytes = total * sizeof(float);

    float* h_stereo = new float[total];
    read_binary("data/stereo.bin", h_stereo, total);
    float* h_width = new float[kSegments];
    read_binary("data/width.bin", h_width, kSegments);

    float* d_stereo = nullptr;
    float* d_width = nullptr;
    float* d_widened = nullptr;
    int* d_clipped = nullptr;
    cudaMalloc(&d_stereo, buffer_bytes);
    cudaMemcpy(d_stereo, h_stereo, buffer_bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_width, kSegments * sizeof(float));
    cudaMemcpy(d_width, h_width, kSegments * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_widened, buffer_bytes);
    cudaMalloc(&d_clipped, kSegments * sizeof(int));

    cudaMemset(d_clipped, 0, kSegments * sizeof(int));
    const int threads = 256;
    const int blocks = (kSegments * kLength + threads - 1) / threads;
    widen<<<blocks, threads>>>(d_stereo, d_width, d_widened, d_clipped, kSegments, kLength);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    float* h_widened = new float[total];
    int* h_clipped = new int[kSegments];
    cudaMemcpy(h_widened, d_widened, buffer_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_clipped, d_clipped, kSegments * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/widened.bin", h_widened, total);
    write_binary("data/clipped.bin", reinterpret_cast<const float*>(h_clipped), kSegments);

    cudaFree(d_stereo);
    delete[] h_stereo;
    cudaFree(d_width);
    delete[] h_width;
    cudaFree(d_widened);
    delete[] h_widened;
    cudaFree(d_clipped);
    delete[] h_clipped;
    return 0;
}
