constexpr int kSeries = 40;
constexpr int kM = 30;
constexpr int kN = 40;

__global__ void hankel_rows(const float* h, const float* v, float* hv, int m, int n, int total) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= total) return;
    const float* window = h + idx / m * (m + n - 1) + idx % m;
    float sum = 0.0f;
    for (int j = 0; j < n; ++j) sum += window[j] * v[j];
    hv[idx] = sum;
}

__global__ void weigh_rows(const float* hv, const float* u, float* value, int series, int m) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= series) return;
    float sum = 0.0f;
    for (int i = 0; i < m; ++i) sum += u[i] * hv[s * m + i];
    value[s] = sum;
}

int main() {
    const int h_total = kSeries * (kM + kN - 1);
    const int hv_total = kSeries * kM;
    std::vector<float> h_h(h_total);
    read_binary("data/h.bin", h_h.data(), h_total);
    std::vector<float> h_u(kM);
    read_binary("data/u.bin", h_u.data(), kM);
    std::vector<float> h_v(kN);
    read_binary("data/v.bin", h_v.data(), kN);

    float *d_h, *d_u, *d_v, *d_value, *d_hv;
    cudaMalloc(&d_h, h_total * sizeof(float));
    cudaMemcpy(d_h, h_h.data(), h_total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_u, kM * sizeof(float));
    cudaMemcpy(d_u, h_u.data(), kM * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_v, kN * sizeof(float));
    cudaMemcpy(d_v, h_v.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_value, kSeries * sizeof(float));
    cudaMalloc(&d_hv, hv_total * sizeof(float));

    const int threads = 128;
    hankel_rows<<<(hv_total + threads - 1) / threads, threads>>>(d_h, d_v, d_hv, kM, kN, hv_total);
    weigh_rows<<<(kSeries + threads - 1) / threads, threads>>>(d_hv, d_u, d_value, kSeries, kM);
    cudaDeviceSynchronize();

    std::vector<float> h_value(kSeries);
    cudaMemcpy(h_value.data(), d_value, kSeries * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/value.bin", h_value.data(), kSeries);
    std::vector<float> h_hv(hv_total);
    cudaMemcpy(h_hv.data(), d_hv, hv_total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/hv.bin", h_hv.data(), hv_total);

    cudaFree(d_h);
    cudaFree(d_u);
    cudaFree(d_v);
    cudaFree(d_value);
    cudaFree(d_hv);
    return 0;
}
