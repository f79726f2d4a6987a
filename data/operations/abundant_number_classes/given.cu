const int N = 3000;

__global__ void classify_numbers(const int* values, int* aliquot, signed char* kind, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = values[i];
    int sum = v > 1 ? 1 : 0;
    for (int d = 2; d * d <= v; ++d) {
        if (v % d != 0) continue;
        sum += d;
        if (v / d != d) sum += v / d;
    }
    aliquot[i] = sum;
    if (sum > v) kind[i] = 1;
    else if (sum < v) kind[i] = -1;
    else kind[i] = 0;
}

int main() {
    int* h_values = new int[N];
    int* h_aliquot = new int[N];
    signed char* h_kind = new signed char[N];
    read_binary("data/values.bin", reinterpret_cast<float*>(h_values), N);

    int* d_values;
    cudaMalloc(&d_values, N * sizeof(int));
    cudaMemcpy(d_values, h_values, N * sizeof(int), cudaMemcpyHostToDevice);
    int* d_aliquot;
    cudaMalloc(&d_aliquot, N * sizeof(int));
    signed char* d_kind;
    cudaMalloc(&d_kind, N * sizeof(signed char));

    int threads = 128;
    int blocks = (N + threads - 1) / threads;
    classify_numbers<<<blocks, threads>>>(d_values, d_aliquot, d_kind, N);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "GPU error" << std::endl;
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_aliquot, d_aliquot, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_kind, d_kind, N * sizeof(signed char), cudaMemcpyDeviceToHost);
    write_binary("data/aliquot.bin", reinterpret_cast<const float*>(h_aliquot), N);
    std::ofstream kind_file("data/kind.bin", std::ios::binary);
    kind_file.write(reinterpret_cast<const char*>(h_kind), N);

    cudaFree(d_values);
    cudaFree(d_aliquot);
    cudaFree(d_kind);
    delete[] h_values;
    delete[] h_aliquot;
    delete[] h_kind;
    return 0;
}
