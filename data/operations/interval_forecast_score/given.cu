const int SERIES = 200;
const int STEPS = 80;

__global__ void score_series(const float* lower, const float* upper, const float* actual,
                             float* score, int* covered, int steps) {
    __shared__ float sums[128];
    __shared__ int counts[128];
    int t = threadIdx.x;
    size_t base = (size_t)blockIdx.x * steps;
    float sum = 0.0f;
    int count = 0;
    for (int k = t; k < steps; k += 128) {
        float lo = lower[base + k];
        float hi = upper[base + k];
        float a = actual[base + k];
        sum += hi - lo;
        if (a < lo) sum += 20.0f * (lo - a);
        else if (a > hi) sum += 20.0f * (a - hi);
        else ++count;
    }
    sums[t] = sum;
    counts[t] = count;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) {
            sums[t] += sums[t + s];
            counts[t] += counts[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        score[blockIdx.x] = sums[0] / steps;
        covered[blockIdx.x] = counts[0];
    }
}

int main() {
    const int elements = SERIES * STEPS;
    float* h_lower = new float[elements];
    float* h_upper = new float[elements];
    float* h_actual = new float[elements];
    float* h_score = new float[SERIES];
    int* h_covered = new int[SERIES];
    read_binary("data/lower.bin", h_lower, elements);
    read_binary("data/upper.bin", h_upper, elements);
    read_binary("data/actual.bin", h_actual, elements);

    float* d_lower = nullptr;
    cudaMalloc(&d_lower, elements * sizeof(float));
    cudaMemcpy(d_lower, h_lower, elements * sizeof(float), cudaMemcpyHostToDevice);
    float* d_upper = nullptr;
    cudaMalloc(&d_upper, elements * sizeof(float));
    cudaMemcpy(d_upper, h_upper, elements * sizeof(float), cudaMemcpyHostToDevice);
    float* d_actual = nullptr;
    cudaMalloc(&d_actual, elements * sizeof(float));
    cudaMemcpy(d_actual, h_actual, elements * sizeof(float), cudaMemcpyHostToDevice);
    float* d_score = nullptr;
    cudaMalloc(&d_score, SERIES * sizeof(float));
    int* d_covered = nullptr;
    cudaMalloc(&d_covered, SERIES * sizeof(int));

    score_series<<<SERIES, 128>>>(d_lower, d_upper, d_actual, d_score, d_covered, STEPS);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "launch failed\n";
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_score, d_score, SERIES * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_covered, d_covered, SERIES * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/score.bin", h_score, SERIES);
    write_binary("data/covered.bin", reinterpret_cast<const float*>(h_covered), SERIES);

    cudaFree(d_lower);
    cudaFree(d_upper);
    cudaFree(d_actual);
    cudaFree(d_score);
    cudaFree(d_covered);
    delete[] h_lower;
    delete[] h_upper;
    delete[] h_actual;
    delete[] h_score;
    delete[] h_covered;
    return 0;
}
