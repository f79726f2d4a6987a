constexpr int kCurves = 150;
constexpr int kTenors = 40;

__global__ void curve_forwards(const float* zero_rate, const float* time, float* discount,
                               float* forward, int* steepest, int curves, int tenors) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= curves) return;
    float previous = 0.0f, previous_time = 0.0f, best = -1e30f;
    int where = 0;
    for (int k = 0; k < tenors; k++) {
        int i = c * tenors + k;
        float zt = zero_rate[i] * time[k];
        float f = (zt - previous) / (time[k] - previous_time);
        discount[i] = expf(-zt);
        forward[i] = f;
        if (f > best) {
            best = f;
            where = k;
        }
        previous = zt;
        previous_time = time[k];
    }
    steepest[c] = where;
}

int main() {
    const int total = kCurves * kTenors;

    float* h_zero_rate = new float[total];
    read_binary("data/zero_rate.bin", h_zero_rate, total);
    float* h_time = new float[kTenors];
    read_binary("data/time.bin", h_time, kTenors);
    float* h_discount = new float[total];
    float* h_forward = new float[total];
    int* h_steepest = new int[kCurves];

    float* d_zero_rate;
    float* d_time;
    float* d_discount;
    float* d_forward;
    int* d_steepest;
    cudaMalloc(&d_zero_rate, total * sizeof(float));
    cudaMalloc(&d_time, kTenors * sizeof(float));
    cudaMalloc(&d_discount, total * sizeof(float));
    cudaMalloc(&d_forward, total * sizeof(float));
    cudaMalloc(&d_steepest, kCurves * sizeof(int));
    cudaMemcpy(d_zero_rate, h_zero_rate, total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_time, h_time, kTenors * sizeof(float), cudaMemcpyHostToDevice);

    const int block = 128;
    const int grid = (kCurves + block - 1) / block;
    curve_forwards<<<grid, block>>>(d_zero_rate, d_time, d_discount, d_forward, d_steepest, kCurves, kTenors);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_discount, d_discount, total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/discount.bin", h_discount, total);
    cudaMemcpy(h_forward, d_forward, total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/forward.bin", h_forward, total);
    cudaMemcpy(h_steepest, d_steepest, kCurves * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/steepest.bin", reinterpret_cast<const float*>(h_steepest), kCurves);

    cudaFree(d_zero_rate);
    cudaFree(d_time);
    cudaFree(d_discount);
    cudaFree(d_forward);
    cudaFree(d_steepest);
    delete[] h_zero_rate;
    delete[] h_time;
    delete[] h_discount;
    delete[] h_forward;
    delete[] h_steepest;
    return 0;
}
