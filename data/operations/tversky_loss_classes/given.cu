constexpr int kBatch = 2;
constexpr int kClasses = 4;
constexpr int kPixels = 1500;

__global__ void tversky(const float* probs, const int* labels, float* loss, int batch, int classes,
                        int pixels) {
    __shared__ float tp[512], fp[512], fn[512];
    int c = blockIdx.x, t = threadIdx.x;
    float a = 0.0f, b = 0.0f, d = 0.0f;
    for (int n = 0; n < batch; n++) {
        const float* p = probs + (size_t)(n * classes + c) * pixels;
        const int* g = labels + n * pixels;
        for (int i = t; i < pixels; i += blockDim.x) {
            if (g[i] == c) {
                a += p[i];
                d += 1.0f - p[i];
            } else if (g[i] != 255) {
                b += p[i];
            }
        }
    }
    tp[t] = a;
    fp[t] = b;
    fn[t] = d;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) {
            tp[t] += tp[t + s];
            fp[t] += fp[t + s];
            fn[t] += fn[t + s];
        }
        __syncthreads();
    }
    if (t == 0) loss[c] = 1.0f - (tp[0] + 1.0f) / (tp[0] + 0.3f * fp[0] + 0.7f * fn[0] + 1.0f);
}

int main() {
    int probs_len = kBatch * kClasses * kPixels;
    int labels_len = kBatch * kPixels;
    const size_t probs_bytes = probs_len * sizeof(float);
    const size_t labels_bytes = labels_len * sizeof(int);
    const size_t loss_bytes = kClasses * sizeof(float);
    float* h_probs = new float[probs_len];
    read_binary("data/probs.bin", h_probs, probs_len);
    float* d_probs;
    cudaMalloc((void**)&d_probs, probs_bytes);
    cudaMemcpy(d_probs, h_probs, probs_bytes, cudaMemcpyHostToDevice);

    int* h_labels = new int[labels_len];
    read_binary("data/labels.bin", reinterpret_cast<float*>(h_labels), labels_len);
    int* d_labels;
    cudaMalloc((void**)&d_labels, labels_bytes);
    cudaMemcpy(d_labels, h_labels, labels_bytes, cudaMemcpyHostToDevice);

    float* h_loss = new float[kClasses];
    float* d_loss;
    cudaMalloc((void**)&d_loss, loss_bytes);

    const int blocks = kClasses;
    tversky<<<blocks, 512>>>(d_probs, d_labels, d_loss, kBatch, kClasses, kPixels);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "error in the kernel: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_loss, d_loss, loss_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/loss.bin", h_loss, kClasses);

    delete[] h_probs;
    delete[] h_labels;
    delete[] h_loss;
    cudaFree(d_probs);
    cudaFree(d_labels);
    cudaFree(d_loss);
    return 0;
}
