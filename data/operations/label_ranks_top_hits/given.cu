constexpr int ROWS = 250;
constexpr int CLASSES = 60;
constexpr int TOPK = 5;

__global__ void label_rank(const float* scores, const int* labels, const int* cutoffs, int* rank, int* hits,
                           int rows, int classes, int topk) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    const float* row = scores + (size_t)i * classes;
    int label = labels[i];
    float own = row[label];
    int ahead = 0;
    for (int k = 0; k < classes; ++k) {
        if (row[k] > own) ++ahead;
        if (row[k] == own && k < label) ++ahead;
    }
    rank[i] = ahead;
    for (int j = 0; j < topk; ++j) {
        if (ahead < cutoffs[j]) atomicAdd(&hits[j], 1);
    }
}

int main() {
    const int total = ROWS * CLASSES;

    float* h_scores = new float[total];
    int* h_labels = new int[ROWS];
    int* h_cutoffs = new int[TOPK];
    read_binary("data/scores.bin", h_scores, total);
    read_binary("data/labels.bin", reinterpret_cast<float*>(h_labels), ROWS);
    read_binary("data/cutoffs.bin", reinterpret_cast<float*>(h_cutoffs), TOPK);

    float* d_scores;
    int* d_labels;
    int* d_cutoffs;
    cudaMalloc(&d_scores, total * sizeof(float));
    cudaMalloc(&d_labels, ROWS * sizeof(int));
    cudaMalloc(&d_cutoffs, TOPK * sizeof(int));
    cudaMemcpy(d_scores, h_scores, total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_labels, h_labels, ROWS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_cutoffs, h_cutoffs, TOPK * sizeof(int), cudaMemcpyHostToDevice);

    int* d_rank;
    int* d_hits;
    cudaMalloc(&d_rank, ROWS * sizeof(int));
    cudaMalloc(&d_hits, TOPK * sizeof(int));

    cudaMemset(d_hits, 0, TOPK * sizeof(int));
    const int block = 128;
    const int grid = (ROWS + block - 1) / block;
    label_rank<<<grid, block>>>(d_scores, d_labels, d_cutoffs, d_rank, d_hits, ROWS, CLASSES, TOPK);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA failure: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    int* h_rank = new int[ROWS];
    cudaMemcpy(h_rank, d_rank, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/rank.bin", reinterpret_cast<float*>(h_rank), ROWS);
    int* h_hits = new int[TOPK];
    cudaMemcpy(h_hits, d_hits, TOPK * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/hits.bin", reinterpret_cast<float*>(h_hits), TOPK);

    delete[] h_scores;
    delete[] h_labels;
    delete[] h_cutoffs;
    delete[] h_rank;
    delete[] h_hits;
    cudaFree(d_scores);
    cudaFree(d_labels);
    cudaFree(d_cutoffs);
    cudaFree(d_rank);
    cudaFree(d_hits);
    return 0;
}
