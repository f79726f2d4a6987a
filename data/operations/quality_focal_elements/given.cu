constexpr int kBoxes = 150;
constexpr int kClasses = 80;

__global__ void quality_focal_loss(const float* logits, const float* quality, float* loss, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = logits[i];
    float y = quality[i];
    float s = 1.0f / (1.0f + expf(-x));
    float entropy = fmaxf(x, 0.0f) - x * y + log1pf(expf(-fabsf(x)));
    loss[i] = (y - s) * (y - s) * entropy;
}

int main() {
    const int total = kBoxes * kClasses;

    std::vector<float> h_logits(total);
    read_binary("data/logits.bin", h_logits.data(), total);
    std::vector<float> h_quality(total);
    read_binary("data/quality.bin", h_quality.data(), total);

    float* d_logits = nullptr;
    float* d_quality = nullptr;
    float* d_loss = nullptr;
    cudaMalloc(&d_logits, total * sizeof(float));
    cudaMemcpy(d_logits, h_logits.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_quality, total * sizeof(float));
    cudaMemcpy(d_quality, h_quality.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_loss, total * sizeof(float));

    int threads = 128;
    int blocks = (total + threads - 1) / threads;
    quality_focal_loss<<<blocks, threads>>>(d_logits, d_quality, d_loss, total);
    cudaDeviceSynchronize();

    std::vector<float> h_loss(total);
    cudaMemcpy(h_loss.data(), d_loss, total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/loss.bin", h_loss.data(), total);

    cudaFree(d_logits);
    cudaFree(d_quality);
    cudaFree(d_loss);
    return 0;
}
