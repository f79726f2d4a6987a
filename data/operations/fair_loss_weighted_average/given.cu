const int SAMPLES = 600;
const int OUTPUTS = 12;

__global__ void accumulate(const float* pred, const float* target, const float* weight, double* sums,
                           int samples, int outputs) {
    __shared__ double top[256], bottom[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    top[t] = 0.0;
    bottom[t] = 0.0;
    if (i < samples) {
        float w = weight[i], fair = 0.0f;
        for (int k = 0; k < outputs; k++) {
            float a = fabsf(pred[i * outputs + k] - target[i * outputs + k]) / 1.3998f;
            fair += a - log1pf(a);
        }
        top[t] = w * fair;
        bottom[t] = w;
    }
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) {
            top[t] += top[t + s];
            bottom[t] += bottom[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        atomicAdd(&sums[0], top[0]);
        atomicAdd(&sums[1], bottom[0]);
    }
}

__global__ void divide(const double* sums, float* loss) {
    loss[0] = (float)(1.3998 * 1.3998 * sums[0] / sums[1]);
}

int main() {
    const int total = SAMPLES * OUTPUTS;

    float* h_pred = new float[total];
    read_binary("data/pred.bin", h_pred, total);
    float* d_pred;
    cudaMalloc((void**)&d_pred, total * sizeof(float));
    cudaMemcpy(d_pred, h_pred, total * sizeof(float), cudaMemcpyHostToDevice);

    float* h_target = new float[total];
    read_binary("data/target.bin", h_target, total);
    float* d_target;
    cudaMalloc((void**)&d_target, total * sizeof(float));
    cudaMemcpy(d_target, h_target, total * sizeof(float), cudaMemcpyHostToDevice);

    float* h_weight = new float[SAMPLES];
    read_binary("data/weight.bin", h_weight, SAMPLES);
    float* d_weight;
    cudaMalloc((void**)&d_weight, SAMPLES * sizeof(float));
    cudaMemcpy(d_weight, h_weight, SAMPLES * sizeof(float), cudaMemcpyHostToDevice);

    float* h_loss = new float[1];
    float* d_loss;
    cudaMalloc((void**)&d_loss, sizeof(float));
    double* d_sums;
    cudaMalloc(&d_sums, 2 * sizeof(double));
    cudaMemset(d_sums, 0, 2 * sizeof(double));

    const int blocks = (SAMPLES + 255) / 256;
    accumulate<<<blocks, 256>>>(d_pred, d_target, d_weight, d_sums, SAMPLES, OUTPUTS);
    divide<<<1, 1>>>(d_sums, d_loss);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "kernel launch failed\n";
        return 1;
    }

    cudaMemcpy(h_loss, d_loss, sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/loss.bin", h_loss, 1);

    cudaFree(d_pred);
    cudaFree(d_target);
    cudaFree(d_weight);
    cudaFree(d_loss);
    cudaFree(d_sums);
    delete[] h_pred;
    delete[] h_target;
    delete[] h_weight;
    delete[] h_loss;
    return 0;
}
