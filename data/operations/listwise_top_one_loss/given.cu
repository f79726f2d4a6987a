#define LISTS 100
#define LONGEST 60

__global__ void listnet(const float* scores, const float* relevance, const int* length, float* loss,
                        int lists, int longest) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= lists) return;
    const float* s = scores + (size_t)q * longest;
    const float* r = relevance + (size_t)q * longest;
    int n = length[q];
    float smax = s[0], rmax = r[0];
    for (int k = 1; k < n; k++) {
        smax = fmaxf(smax, s[k]);
        rmax = fmaxf(rmax, r[k]);
    }
    float ssum = 0.0f, rsum = 0.0f, cross = 0.0f;
    for (int k = 0; k < n; k++) {
        float t = expf(r[k] - rmax);
        ssum += expf(s[k] - smax);
        rsum += t;
        cross += t * (s[k] - smax);
    }
    loss[q] = logf(ssum) - cross / rsum;
}

int main() {
    const int numel = LISTS * LONGEST;
    const size_t scores_bytes = numel * sizeof(float);
    const size_t length_bytes = LISTS * sizeof(int);
    const size_t loss_bytes = LISTS * sizeof(float);
    float* h_scores = new float[numel];
    read_binary("data/scores.bin", h_scores, numel);
    float* h_relevance = new float[numel];
    read_binary("data/relevance.bin", h_relevance, numel);
    int* h_length = new int[LISTS];
    read_binary("data/length.bin", reinterpret_cast<float*>(h_length), LISTS);
    float* h_loss = new float[LISTS];

    float* d_scores;
    cudaMalloc(&d_scores, scores_bytes);
    float* d_relevance;
    cudaMalloc(&d_relevance, scores_bytes);
    int* d_length;
    cudaMalloc(&d_length, length_bytes);
    float* d_loss;
    cudaMalloc(&d_loss, loss_bytes);
    cudaMemcpy(d_scores, h_scores, scores_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_relevance, h_relevance, scores_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_length, h_length, length_bytes, cudaMemcpyHostToDevice);

    const int threadsPerBlock = 256;
    const int numBlocks = (LISTS + threadsPerBlock - 1) / threadsPerBlock;
    listnet<<<numBlocks, threadsPerBlock>>>(d_scores, d_relevance, d_length, d_loss, LISTS, LONGEST);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "listnet: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(h_loss, d_loss, loss_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/loss.bin", h_loss, LISTS);

    cudaFree(d_scores);
    cudaFree(d_relevance);
    cudaFree(d_length);
    cudaFree(d_loss);
    delete[] h_scores;
    delete[] h_relevance;
    delete[] h_length;
    delete[] h_loss;
    return 0;
}
