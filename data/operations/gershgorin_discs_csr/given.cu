const int N = 900;
const int ENTRIES = 7000;

__global__ void gershgorin(const int* row_start, const int* col, const float* value, float* disc,
                           int* dominant, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float center = 0.0f;
    float radius = 0.0f;
    for (int k = row_start[i]; k < row_start[i + 1]; ++k) {
        if (col[k] == i) center += value[k];
        else radius += fabsf(value[k]);
    }
    disc[2 * i] = center;
    disc[2 * i + 1] = radius;
    dominant[i] = fabsf(center) > radius ? 1 : 0;
}

int main() {
    int* h_row_start = new int[N + 1];
    read_binary("data/row_start.bin", reinterpret_cast<float*>(h_row_start), N + 1);
    int* h_col = new int[ENTRIES];
    read_binary("data/col.bin", reinterpret_cast<float*>(h_col), ENTRIES);
    float* h_value = new float[ENTRIES];
    read_binary("data/value.bin", h_value, ENTRIES);

    int* d_row_start;
    int* d_col;
    float* d_value;
    float* d_disc;
    int* d_dominant;
    cudaMalloc(&d_row_start, (N + 1) * sizeof(int));
    cudaMemcpy(d_row_start, h_row_start, (N + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_col, ENTRIES * sizeof(int));
    cudaMemcpy(d_col, h_col, ENTRIES * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_value, ENTRIES * sizeof(float));
    cudaMemcpy(d_value, h_value, ENTRIES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_disc, N * 2 * sizeof(float));
    cudaMalloc(&d_dominant, N * sizeof(int));

    const int threads = 128;
    gershgorin<<<(N + threads - 1) / threads, threads>>>(d_row_start, d_col, d_value, d_disc, d_dominant, N);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    float* h_disc = new float[N * 2];
    cudaMemcpy(h_disc, d_disc, N * 2 * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/disc.bin", h_disc, N * 2);
    int* h_dominant = new int[N];
    cudaMemcpy(h_dominant, d_dominant, N * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/dominant.bin", reinterpret_cast<const float*>(h_dominant), N);

    cudaFree(d_row_start);
    delete[] h_row_start;
    cudaFree(d_col);
    delete[] h_col;
    cudaFree(d_value);
    delete[] h_value;
    cudaFree(d_disc);
    delete[] h_disc;
    cudaFree(d_dominant);
    delete[] h_dominant;
    return 0;
}
