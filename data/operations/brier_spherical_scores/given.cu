constexpr int kRows = 400;
constexpr int kClasses = 40;

__global__ void score_rows(const float* probs, const int* labels, float* brier, float* spherical,
                           int rows, int classes) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* p = probs + (size_t)row * classes;
    int y = labels[row];
    float squares = 0.0f, error = 0.0f;
    for (int k = 0; k < classes; k++) {
        float d = k == y ? p[k] - 1.0f : p[k];
        squares += p[k] * p[k];
        error += d * d;
    }
    brier[row] = error;
    spherical[row] = p[y] / sqrtf(squares);
}

int main() {
    const int numel = kRows * kClasses;
    float* h_probs = new float[numel];
    read_binary("data/probs.bin", h_probs, numel);
    int* h_labels = new int[kRows];
    read_binary("data/labels.bin", reinterpret_cast<float*>(h_labels), kRows);

    float* d_probs = nullptr;
    cudaMalloc(&d_probs, numel * sizeof(float));
    int* d_labels = nullptr;
    cudaMalloc(&d_labels, kRows * sizeof(int));
    float* d_brier = nullptr;
    cudaMalloc(&d_brier, kRows * sizeof(float));
    float* d_spherical = nullptr;
    cudaMalloc(&d_spherical, kRows * sizeof(float));
    cudaMemcpy(d_probs, h_probs, numel * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_labels, h_labels, kRows * sizeof(int), cudaMemcpyHostToDevice);

    const int threadsPerBlock = 256;
    const int numBlocks = (kRows + threadsPerBlock - 1) / threadsPerBlock;
    score_rows<<<numBlocks, threadsPerBlock>>>(d_probs, d_labels, d_brier, d_spherical, kRows,
                                               kClasses);

    float* h_brier = new float[kRows];
    float* h_spherical = new float[kRows];
    cudaMemcpy(h_brier, d_brier, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/brier.bin", h_brier, kRows);
    cudaMemcpy(h_spherical, d_spherical, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/spherical.bin", h_spherical, kRows);

    delete[] h_probs;
    delete[] h_labels;
    delete[] h_brier;
    delete[] h_spherical;
    cudaFree(d_probs);
    cudaFree(d_labels);
    cudaFree(d_brier);
    cudaFree(d_spherical);
    return 0;
}
