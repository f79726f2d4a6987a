#define CHANNELS 8
#define HEIGHT 40
#define WIDTH 60
#define REGIONS 50

__global__ void roi_max(const float* features, const int* boxes, float* pooled, int channels, int height,
                        int width, int regions) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= regions * channels * 25) return;
    int bx = i % 5, by = i / 5 % 5, c = i / 25 % channels, r = i / 25 / channels;
    int x0 = boxes[4 * r], y0 = boxes[4 * r + 1];
    int w = boxes[4 * r + 2] - x0 + 1, h = boxes[4 * r + 3] - y0 + 1;
    int top = y0 + by * h / 5, bottom = y0 + ((by + 1) * h + 4) / 5;
    int left = x0 + bx * w / 5, right = x0 + ((bx + 1) * w + 4) / 5;
    float best = -FLT_MAX;
    for (int y = top; y < bottom; ++y)
        for (int x = left; x < right; ++x) best = fmaxf(best, features[((size_t)c * height + y) * width + x]);
    pooled[i] = best;
}

int main() {
    size_t n_features = CHANNELS * HEIGHT * WIDTH;
    size_t n_boxes = (size_t)REGIONS * 4;
    size_t n_pooled = (size_t)REGIONS * CHANNELS * 5 * 5;
    float* h_features = new float[n_features];
    read_binary("data/features.bin", h_features, n_features);
    int* h_boxes = new int[n_boxes];
    read_binary("data/boxes.bin", reinterpret_cast<float*>(h_boxes), n_boxes);

    float* d_features;
    cudaMalloc(&d_features, sizeof(float) * n_features);
    int* d_boxes;
    cudaMalloc(&d_boxes, sizeof(int) * n_boxes);
    float* d_pooled;
    cudaMalloc(&d_pooled, sizeof(float) * n_pooled);

    cudaMemcpy(d_features, h_features, sizeof(float) * n_features, cudaMemcpyHostToDevice);
    cudaMemcpy(d_boxes, h_boxes, sizeof(int) * n_boxes, cudaMemcpyHostToDevice);

    int block_size = 128;
    int grid_size = (n_pooled + block_size - 1) / block_size;
    roi_max<<<grid_size, block_size>>>(d_features, d_boxes, d_pooled, CHANNELS, HEIGHT, WIDTH, REGIONS);
    cudaError_t err = cudaGetLastError();
    if (err == cudaSuccess) err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    float* h_pooled = new float[n_pooled];
    cudaMemcpy(h_pooled, d_pooled, sizeof(float) * n_pooled, cudaMemcpyDeviceToHost);
    write_binary("data/pooled.bin", h_pooled, n_pooled);
    cudaFree(d_features);
    cudaFree(d_boxes);
    cudaFree(d_pooled);
    delete[] h_features;
    delete[] h_boxes;
    delete[] h_pooled;
    return 0;
}
