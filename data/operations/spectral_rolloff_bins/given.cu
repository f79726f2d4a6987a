constexpr int kFrames = 90;
constexpr int kBins = 200;

__global__ void find_rolloff(const int* power, int* rolloff, long long* total, int frames, int bins) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= frames) return;
    const int* row = power + f * bins;
    long long sum = 0;
    for (int b = 0; b < bins; ++b) sum += row[b];
    long long part = row[0];
    int k = 0;
    while (k + 1 < bins && 20 * part < 17 * sum) {
        ++k;
        part += row[k];
    }
    rolloff[f] = k;
    total[f] = sum;
}

int main() {
    int* h_power = new int[kFrames * kBins];
    int* h_rolloff = new int[kFrames];
    long long* h_total = new long long[kFrames];
    read_binary("data/power.bin", reinterpret_cast<float*>(h_power), kFrames * kBins);

    int* d_power;
    cudaMalloc(&d_power, kFrames * kBins * sizeof(int));
    cudaMemcpy(d_power, h_power, kFrames * kBins * sizeof(int), cudaMemcpyHostToDevice);
    int* d_rolloff;
    cudaMalloc(&d_rolloff, kFrames * sizeof(int));
    long long* d_total;
    cudaMalloc(&d_total, kFrames * sizeof(long long));

    const int threads = 128;
    const int blocks = (kFrames + threads - 1) / threads;
    find_rolloff<<<blocks, threads>>>(d_power, d_rolloff, d_total, kFrames, kBins);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(status) << "\n";
        return 1;
    }

    cudaMemcpy(h_rolloff, d_rolloff, kFrames * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_total, d_total, kFrames * sizeof(long long), cudaMemcpyDeviceToHost);
    write_binary("data/rolloff.bin", reinterpret_cast<const float*>(h_rolloff), kFrames);
    write_binary("data/total.bin", reinterpret_cast<const float*>(h_total), 2 * kFrames);

    cudaFree(d_power);
    cudaFree(d_rolloff);
    cudaFree(d_total);
    delete[] h_power;
    delete[] h_rolloff;
    delete[] h_total;
    return 0;
}
