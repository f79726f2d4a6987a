const int SEQUENCES = 100;
const int FRAMES = 200;

__device__ float block_sum(float value, float* buffer) {
    int t = threadIdx.x;
    buffer[t] = value;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) buffer[t] += buffer[t + s];
        __syncthreads();
    }
    float result = buffer[0];
    __syncthreads();
    return result;
}

__global__ void concordance_loss(const float* pred, const float* truth, float* loss, int frames) {
    __shared__ float buffer[256];
    const float* p = pred + (size_t)blockIdx.x * frames;
    const float* q = truth + (size_t)blockIdx.x * frames;
    float sum_p = 0.0f, sum_q = 0.0f;
    for (int k = threadIdx.x; k < frames; k += blockDim.x) {
        sum_p += p[k];
        sum_q += q[k];
    }
    float mp = block_sum(sum_p, buffer) / frames;
    float mt = block_sum(sum_q, buffer) / frames;
    float pp = 0.0f, qq = 0.0f, pq = 0.0f;
    for (int k = threadIdx.x; k < frames; k += blockDim.x) {
        float a = p[k] - mp;
        float b = q[k] - mt;
        pp += a * a;
        qq += b * b;
        pq += a * b;
    }
    float vp = block_sum(pp, buffer) / frames;
    float vt = block_sum(qq, buffer) / frames;
    float cov = block_sum(pq, buffer) / frames;
    if (threadIdx.x == 0) {
        loss[blockIdx.x] = 1.0f - 2.0f * cov / (vp + vt + (mp - mt) * (mp - mt) + 1e-8f);
    }
}

int main() {
    const size_t numel = SEQUENCES * FRAMES;
    float* h_pred = new float[numel];
    float* h_truth = new float[numel];
    float* h_loss = new float[SEQUENCES];
    read_binary("data/pred.bin", h_pred, numel);
    read_binary("data/truth.bin", h_truth, numel);

    float* d_pred;
    cudaMalloc(&d_pred, numel * sizeof(float));
    cudaMemcpy(d_pred, h_pred, numel * sizeof(float), cudaMemcpyHostToDevice);
    float* d_truth;
    cudaMalloc(&d_truth, numel * sizeof(float));
    cudaMemcpy(d_truth, h_truth, numel * sizeof(float), cudaMemcpyHostToDevice);
    float* d_loss;
    cudaMalloc(&d_loss, SEQUENCES * sizeof(float));

    dim3 grid(SEQUENCES);
    dim3 block(256);
    concordance_loss<<<grid, block>>>(d_pred, d_truth, d_loss, FRAMES);
    cudaDeviceSynchronize();

    cudaMemcpy(h_loss, d_loss, SEQUENCES * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/loss.bin", h_loss, SEQUENCES);

    cudaFree(d_pred);
    cudaFree(d_truth);
    cudaFree(d_loss);
    delete[] h_pred;
    delete[] h_truth;
    delete[] h_loss;
    return 0;
}
