constexpr int FRAMES = 120;
constexpr int BINS = 128;
const int BLOCK = 256;

__global__ void flatness_rows(const float* power, float* flatness, int bins) {
    __shared__ float logs[BLOCK];
    __shared__ float sums[BLOCK];
    int tid = threadIdx.x;
    float log_sum = 0.0f, sum = 0.0f;
    for (int b = tid; b < bins; b += BLOCK) {
        float p = power[blockIdx.x * bins + b] + 1e-10f;
        log_sum += log10f(p);
        sum += p;
    }
    logs[tid] = log_sum;
    sums[tid] = sum;
    __syncthreads();
    for (int stride = BLOCK / 2; stride > 0; stride >>= 1) {
        if (tid < stride) {
            logs[tid] += logs[tid + stride];
            sums[tid] += sums[tid + stride];
        }
        __syncthreads();
    }
    if (tid == 0) {
        float db = 10.0f * (logs[0] / bins - log10f(sums[0] / bins));
        flatness[blockIdx.x] = fmaxf(db, -60.0f);
    }
}

int main() {
    const int size = FRAMES * BINS;

    float* h_power = new float[size];
    read_binary("data/power.bin", h_power, size);
    float* h_flatness = new float[FRAMES];

    float *d_power, *d_flatness;
    cudaMalloc(&d_power, size * sizeof(float));
    cudaMalloc(&d_flatness, FRAMES * sizeof(float));
    cudaMemcpy(d_power, h_power, size * sizeof(float), cudaMemcpyHostToDevice);

    flatness_rows<<<FRAMES, BLOCK>>>(d_power, d_flatness, BINS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_flatness, d_flatness, FRAMES * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/flatness.bin", h_flatness, FRAMES);

    cudaFree(d_power);
    cudaFree(d_flatness);
    delete[] h_power;
    delete[] h_flatness;
    return 0;
}
