#define FACES 200
#define POINTS 68

__device__ float wing(float difference) {
    const float w = 10.0f;
    const float e = 2.0f;
    float d = fabsf(difference);
    if (d < w) return w * logf(1.0f + d / e);
    return d - (w - w * logf(1.0f + w / e));
}

__global__ void wing_loss(const float* pred, const float* truth, const int* visible, float* loss,
                          int faces, int points) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= faces) return;
    float sum = 0.0f;
    int count = 0;
    for (int p = 0; p < points; ++p) {
        int k = f * points + p;
        if (visible[k] == 0) continue;
        sum += wing(pred[2 * k] - truth[2 * k]);
        sum += wing(pred[2 * k + 1] - truth[2 * k + 1]);
        ++count;
    }
    loss[f] = count > 0 ? sum / count : 0.0f;
}

int main() {
    const size_t n = FACES * POINTS * 2;
    float* h_pred = new float[n];
    float* h_truth = new float[n];
    int* h_visible = new int[FACES * POINTS];
    float* h_loss = new float[FACES];
    read_binary("data/pred.bin", h_pred, n);
    read_binary("data/truth.bin", h_truth, n);
    read_binary("data/visible.bin", reinterpret_cast<float*>(h_visible), FACES * POINTS);

    float* d_pred;
    cudaMalloc(&d_pred, n * sizeof(float));
    cudaMemcpy(d_pred, h_pred, n * sizeof(float), cudaMemcpyHostToDevice);
    float* d_truth;
    cudaMalloc(&d_truth, n * sizeof(float));
    cudaMemcpy(d_truth, h_truth, n * sizeof(float), cudaMemcpyHostToDevice);
    int* d_visible;
    cudaMalloc(&d_visible, FACES * POINTS * sizeof(int));
    cudaMemcpy(d_visible, h_visible, FACES * POINTS * sizeof(int), cudaMemcpyHostToDevice);
    float* d_loss;
    cudaMalloc(&d_loss, FACES * sizeof(float));

    const int threads = 128;
    const int blocks = (FACES + threads - 1) / threads;
    wing_loss<<<blocks, threads>>>(d_pred, d_truth, d_visible, d_loss, FACES, POINTS);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_loss, d_loss, FACES * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/loss.bin", h_loss, FACES);

    cudaFree(d_pred);
    cudaFree(d_truth);
    cudaFree(d_visible);
    cudaFree(d_loss);
    delete[] h_pred;
    delete[] h_truth;
    delete[] h_visible;
    delete[] h_loss;
    return 0;
}
