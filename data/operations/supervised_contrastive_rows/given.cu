const int N = 150;

__global__ void contrastive_loss(const float* similarity, const int* labels, float* loss, int n) {
    __shared__ float exp_sum[256];
    __shared__ float positive_sum[256];
    __shared__ int positive_count[256];
    int tid = threadIdx.x;
    int anchor = blockIdx.x;
    float total = 0.0f, positive = 0.0f;
    int count = 0;
    for (int j = tid; j < n; j += blockDim.x) {
        if (j == anchor) continue;
        float scaled = similarity[(size_t)anchor * n + j] / 0.1f;
        total += expf(scaled);
        if (labels[j] == labels[anchor]) {
            positive += scaled;
            ++count;
        }
    }
    exp_sum[tid] = total;
    positive_sum[tid] = positive;
    positive_count[tid] = count;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) {
            exp_sum[tid] += exp_sum[tid + stride];
            positive_sum[tid] += positive_sum[tid + stride];
            positive_count[tid] += positive_count[tid + stride];
        }
        __syncthreads();
    }
    if (tid == 0) {
        float result = 0.0f;
        if (positive_count[0] > 0) result = logf(exp_sum[0]) - positive_sum[0] / (float)positive_count[0];
        loss[anchor] = result;
    }
}

int main() {
    int elements = N * N;

    float* h_similarity = new float[elements];
    read_binary("data/similarity.bin", h_similarity, elements);
    int* h_labels = new int[N];
    read_binary("data/labels.bin", reinterpret_cast<float*>(h_labels), N);
    float* h_loss = new float[N];

    float* d_similarity;
    int* d_labels;
    float* d_loss;
    cudaMalloc(&d_similarity, elements * sizeof(float));
    cudaMemcpy(d_similarity, h_similarity, elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_labels, N * sizeof(int));
    cudaMemcpy(d_labels, h_labels, N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_loss, N * sizeof(float));

    dim3 grid(N);
    dim3 block(256);
    contrastive_loss<<<grid, block>>>(d_similarity, d_labels, d_loss, N);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA failure: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_loss, d_loss, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/loss.bin", h_loss, N);

    delete[] h_similarity;
    delete[] h_labels;
    delete[] h_loss;
    cudaFree(d_similarity);
    cudaFree(d_labels);
    cudaFree(d_loss);
    return 0;
}
