#define QUERIES 60
#define ITEMS 50

__global__ void ranking_loss(const float* scores, const int* relevance, float* loss, int* pairs, int items) {
    __shared__ float sums[128];
    __shared__ int counts[128];
    int t = threadIdx.x;
    const float* s = scores + blockIdx.x * items;
    const int* r = relevance + blockIdx.x * items;
    float sum = 0.0f;
    int count = 0;
    for (int i = t; i < items; i += 128) {
        float mine = 0.0f;
        for (int j = 0; j < items; j++) {
            if (r[i] > r[j]) {
                mine += fmaxf(0.0f, 1.0f - (s[i] - s[j]));
                count++;
            }
        }
        sum += mine;
    }
    sums[t] = sum;
    counts[t] = count;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) {
            sums[t] += sums[t + d];
            counts[t] += counts[t + d];
        }
        __syncthreads();
    }
    if (t == 0) {
        loss[blockIdx.x] = counts[0] > 0 ? sums[0] / counts[0] : 0.0f;
        pairs[blockIdx.x] = counts[0];
    }
}

int main() {
    float* h_scores = new float[QUERIES * ITEMS];
    int* h_relevance = new int[QUERIES * ITEMS];
    float* h_loss = new float[QUERIES];
    int* h_pairs = new int[QUERIES];
    read_binary("data/scores.bin", h_scores, QUERIES * ITEMS);
    read_binary("data/relevance.bin", reinterpret_cast<float*>(h_relevance), QUERIES * ITEMS);

    float* d_scores;
    int* d_relevance;
    float* d_loss;
    int* d_pairs;
    cudaMalloc(&d_scores, QUERIES * ITEMS * sizeof(float));
    cudaMemcpy(d_scores, h_scores, QUERIES * ITEMS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_relevance, QUERIES * ITEMS * sizeof(int));
    cudaMemcpy(d_relevance, h_relevance, QUERIES * ITEMS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_loss, QUERIES * sizeof(float));
    cudaMalloc(&d_pairs, QUERIES * sizeof(int));

    ranking_loss<<<QUERIES, 128>>>(d_scores, d_relevance, d_loss, d_pairs, ITEMS);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "kernel launch failed\n";
        return 1;
    }

    cudaMemcpy(h_loss, d_loss, QUERIES * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/loss.bin", h_loss, QUERIES);
    cudaMemcpy(h_pairs, d_pairs, QUERIES * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/pairs.bin", reinterpret_cast<const float*>(h_pairs), QUERIES);
    cudaFree(d_scores);
    cudaFree(d_relevance);
    cudaFree(d_loss);
    cudaFree(d_pairs);
    delete[] h_scores;
    delete[] h_relevance;
    delete[] h_loss;
    delete[] h_pairs;
    return 0;
}
